// Results and errors of everything that reads or writes traces.
//
// An Error names the file, the byte offset, the record and field where they are known, the reason
// and the remedy. Libraries return it; only programs print it. No ownership beyond its strings; no
// thread restrictions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace kojak {

// Exit status of every kojak tool.
enum class ExitCode : int { kFine = 0, kUsage = 1, kBadInput = 2, kSuspect = 3, kOutputFailed = 4 };

struct Error {
  ExitCode code = ExitCode::kBadInput;
  std::string file;                     // empty if no file is involved
  std::optional<std::uint64_t> offset;  // of the record's first byte, uncompressed
  std::string record;                   // "MPI_PUT_1TS", or empty
  std::string field;                    // "wid", or empty
  std::string reason;
  std::string remedy;  // what the user can do, or empty

  // "file: offset 123: MPI_PUT_1TS.wid: reason (remedy)"
  std::string message() const;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::move(error)) {}  // NOLINT
  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// Success or an error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design
  explicit operator bool() const { return !error_; }
  bool ok() const { return !error_; }
  Error& error() { return *error_; }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace kojak
