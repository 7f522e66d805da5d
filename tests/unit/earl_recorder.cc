#include "tests/unit/earl_recorder.h"

namespace kojak::earl {

CallTree replay(Trace& trace, Recorder& out) {
  Replay<Recorder> pass(trace, out);
  pass.run();
  return pass.call_tree();
}

void Pass::pass() {
  auto opened = Trace::from(memory_source(bytes.data(), bytes.size()), "text");
  if (!opened) {
    ADD_FAILURE() << opened.error().message();
    return;
  }
  trace = std::make_unique<Trace>(std::move(*opened));
  tree = replay(*trace, out);
}

}  // namespace kojak::earl
