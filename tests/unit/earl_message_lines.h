// Lines of a trace that send and receive messages, for tests of the message queue.
#pragma once

#include <string>

#include "tests/unit/earl_recorder.h"

namespace kojak::earl {

inline std::string send(int from, int to, double time, int tag = 0, int com = 0, int request = -1,
                        const char* region = "MPI_Send") {
  const std::string lid = " lid=" + std::to_string(from), t = " time=" + std::to_string(time);
  std::string text = std::string("ENTER") + lid + t + " region=" + region + "\n";
  if (request >= 0) text += "ATTR_UI4 kind=2 value=" + std::to_string(request) + "\n";
  text += "MPI_SEND" + lid + t + " dlid=" + std::to_string(to) + " cid=" + std::to_string(com) +
          " tag=" + std::to_string(tag) + " sent=8\n";
  return text + "EXIT" + lid + " time=" + std::to_string(time + 0.1) + "\n";
}
inline std::string isend(int from, int to, double time, int request, int tag = 0) {
  return send(from, to, time, tag, 0, request, "MPI_Isend");
}
inline std::string enter(int at, double time, const char* region) {
  return "ENTER lid=" + std::to_string(at) + " time=" + std::to_string(time) + " region=" + region +
         "\n";
}
inline std::string leave(int at, double time) {
  return "EXIT lid=" + std::to_string(at) + " time=" + std::to_string(time) + "\n";
}
inline std::string got(int at, int from, double time, int tag = 0, int com = 0, int request = -1) {
  std::string text;
  if (request >= 0) text += "ATTR_UI4 kind=2 value=" + std::to_string(request) + "\n";
  return text + "MPI_RECV lid=" + std::to_string(at) + " time=" + std::to_string(time) +
         " slid=" + std::to_string(from) + " cid=" + std::to_string(com) +
         " tag=" + std::to_string(tag) + " recvd=8\n";
}
inline std::string recv(int at, int from, double begin, double end, int tag = 0, int com = 0) {
  return enter(at, begin, "MPI_Recv") + got(at, from, end, tag, com) + leave(at, end);
}
// source or tag below 0: any
inline std::string irecv(int at, int from, double time, int request, int tag = 0) {
  std::string text = enter(at, time, "MPI_Irecv") + "MPI_RECV_REQUEST lid=" + std::to_string(at) +
                     " time=" + std::to_string(time) + " reqid=" + std::to_string(request);
  if (from >= 0) text += " slid=" + std::to_string(from);
  if (tag >= 0) text += " tag=" + std::to_string(tag);
  return text + "\n" + leave(at, time + 0.1);
}

inline const MessageCallCopy* find_call(const Pass& run, double enter_time, int at) {
  for (const MessageCallCopy& m : run.out.messages) {
    if (m.call.enter.value == enter_time && raw(m.call.loc) == static_cast<unsigned>(at)) return &m;
  }
  return nullptr;
}

}  // namespace kojak::earl
