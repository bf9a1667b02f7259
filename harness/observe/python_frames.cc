#include "harness/observe/python_frames.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "harness/base/printable.h"
#include "harness/base/unique_fd.h"
#include "harness/symbols/python_lines.h"

namespace rankfault {
namespace {

class File {
 public:
  explicit File(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)) {
    rf_python_file head{};
    if (fd_.valid() && read(0, head) && head.magic == RF_PYTHON_MAGIC && head.abi_version == RF_ABI_VERSION)
      minor_ = static_cast<int>(head.minor);
  }

  int minor() const { return minor_; }  // 0: not such a file
  template <typename T>
  bool read(uint64_t offset, T& to) const {
    return ::pread(fd_.get(), &to, sizeof to, static_cast<off_t>(offset)) == sizeof to;
  }
  bool read(uint64_t offset, std::string& to) const {
    return ::pread(fd_.get(), to.data(), to.size(), static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(to.size());
  }

 private:
  UniqueFd fd_;
  int minor_ = 0;
};

std::optional<CallFrame> frame_of(const File& file, const rf_python_frame& frame) {
  const uint64_t at = static_cast<uint64_t>(frame.code) << 3;
  rf_python_code code{};
  if (!file.read(at, code) || code.kind != RF_PYTHON_CODE || code.line_bytes > RF_PYTHON_LINES_BYTES)
    return {};
  std::string path(code.file_bytes, 0), name(code.name_bytes, 0), lines(code.line_bytes, 0);
  const uint64_t text = at + sizeof code;
  if (!file.read(text, path) || !file.read(text + path.size(), name) ||
      !file.read(text + path.size() + name.size(), lines))
    return {};
  const int line = code.has_lines ? python_line(file.minor(), code.first_line, lines, frame.at) : 0;
  return CallFrame{printable(path), printable(name), line};
}

}  // namespace

std::string why_no_frames(uint32_t python_off) {
  switch (python_off) {
    case RF_PYTHON_SWITCHED_OFF:
      return "RANKFAULT_PYTHON_FRAMES=0 switches them off";
    case RF_PYTHON_UNKNOWN_VERSION:
      return "rankfault knows the frames of Python 3.8 to 3.14";
    case RF_PYTHON_FREE_THREADED:
      return "it is the free-threaded build";
    case RF_PYTHON_UNEXPECTED:
      return "its frames are not as this version makes them, as in a debug build";
    case RF_PYTHON_UNREADABLE:
      return "/proc/self/mem cannot be read, so the frames cannot be checked";
    case RF_PYTHON_NO_SPACE:
      return "the disk or the file of the frames is full; earlier calls have theirs";
    default:
      return "for an unknown reason";
  }
}

PythonFrames::PythonFrames(const std::string& ring) : path_(ring) {
  static constexpr std::string_view kEnding = ".ring";
  if (path_.ends_with(kEnding)) path_.resize(path_.size() - kEnding.size());
  path_ += ".python";
}

std::optional<std::vector<CallFrame>> PythonFrames::of(uint64_t where) const {
  const File file(path_);
  const uint64_t at = RF_STACK_OF_WHERE(where);
  rf_python_stack stack{};
  if (file.minor() == 0 || at >= uint64_t{RF_PYTHON_CHUNK} * RF_PYTHON_CHUNKS || !file.read(at, stack) ||
      stack.kind != RF_PYTHON_STACK || stack.frames == 0 || stack.frames > RF_PYTHON_FRAMES)
    return {};
  std::vector<CallFrame> frames;
  for (uint64_t i = 0; i < stack.frames; ++i) {
    rf_python_frame frame{};
    if (!file.read(at + sizeof stack + i * sizeof frame, frame)) return {};
    const auto one = frame_of(file, frame);
    if (!one) return {};
    frames.push_back(*one);
  }
  return frames;
}

}  // namespace rankfault
