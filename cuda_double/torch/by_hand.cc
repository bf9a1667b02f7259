// by_hand.cc: the functions of CUDA's libraries, other than the runtime and NCCL, that have something to
// answer when PyTorch asks: a handle, a version, a text. They are compiled into each stand-in, which exports
// its own alone. GPULESS_MAJOR is the number in its name: 12 for libnvrtc.so.12.
#include <cstddef>
#include <cstdint>
#include <cstring>

#define GPULESS_STAND_IN extern "C" __attribute__((visibility("default")))

namespace {

// A handle is the address of this byte: nobody looks into it.
char handle;
void make(void** out) { *out = &handle; }

thread_local void* cudnn_stream = nullptr;  // PyTorch has a handle for each thread

// The size of cublasLtMatmulHeuristicResult_t.
constexpr std::size_t kHeuristicBytes = 96;

}  // namespace

GPULESS_STAND_IN int cublasCreate_v2(void** out) { return make(out), 0; }
GPULESS_STAND_IN int cublasGetMathMode(void*, int* mode) { return *mode = 0; }
GPULESS_STAND_IN int cublasGetPointerMode_v2(void*, int* mode) { return *mode = 0; }

GPULESS_STAND_IN std::size_t cublasLtGetVersion() { return GPULESS_MAJOR * 10000 + 100; }
GPULESS_STAND_IN int cublasLtMatmulDescCreate(void** out, int, int) { return make(out), 0; }
GPULESS_STAND_IN int cublasLtMatmulDescDestroy(void*) { return 0; }
GPULESS_STAND_IN int cublasLtMatrixLayoutCreate(void** out, int, std::uint64_t, std::uint64_t, std::int64_t) {
  return make(out), 0;
}
GPULESS_STAND_IN int cublasLtMatrixLayoutDestroy(void*) { return 0; }
GPULESS_STAND_IN int cublasLtMatmulPreferenceCreate(void** out) { return make(out), 0; }
GPULESS_STAND_IN int cublasLtMatmulPreferenceDestroy(void*) { return 0; }
// One algorithm, without a workspace.
GPULESS_STAND_IN int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int,
                                                    void* results, int* count) {
  std::memset(results, 0, kHeuristicBytes);
  *count = 1;
  return 0;
}

// 9.99.0: newer than what any PyTorch with cuDNN 9 was compiled with. `part`: libraryPropertyType.
GPULESS_STAND_IN std::size_t cudnnGetVersion() { return 99900; }
GPULESS_STAND_IN int cudnnGetProperty(int part, int* value) {
  constexpr int kParts[] = {9, 99, 0};
  if (part < 0 || part > 2) return 1;
  return *value = kParts[part], 0;
}
GPULESS_STAND_IN std::size_t cudnnGetCudartVersion() { return 13000; }
GPULESS_STAND_IN int cudnnCreate(void** out) { return make(out), 0; }
GPULESS_STAND_IN int cudnnSetStream(void*, void* stream) { return cudnn_stream = stream, 0; }
GPULESS_STAND_IN int cudnnGetStream(void*, void** stream) { return *stream = cudnn_stream, 0; }
// Convolutions and attention: one engine, without a workspace and without notes. `type`:
// cudnnBackendAttributeType_t.
GPULESS_STAND_IN int cudnnBackendCreateDescriptor(int, void** out) { return make(out), 0; }
GPULESS_STAND_IN int cudnnBackendGetAttribute(void*, int, int type, std::int64_t asked, std::int64_t* count,
                                              void* values) {
  constexpr int kInt64 = 3, kDescriptor = 15, kInt32 = 23;
  const std::size_t width = type == kInt64 ? sizeof(std::int64_t) : type == kInt32 ? sizeof(std::int32_t) : 0;
  if (values) std::memset(values, 0, static_cast<std::size_t>(asked) * width);
  if (count) *count = width || type == kDescriptor ? 1 : 0;
  return 0;
}
GPULESS_STAND_IN int cudnnCreateTensorDescriptor(void** out) { return make(out), 0; }
GPULESS_STAND_IN int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void*, int, int, void*, void*,
                                                                              void*, void*, void*,
                                                                              std::size_t* bytes) {
  return *bytes = 0, 0;
}
GPULESS_STAND_IN int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void*, int, int, void*, void*, void*,
                                                                       void*, void*, void*, void*,
                                                                       std::size_t* bytes) {
  return *bytes = 0, 0;
}
GPULESS_STAND_IN int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void*, int, int, void*, void*,
                                                                          std::size_t* bytes) {
  return *bytes = 0, 0;
}
GPULESS_STAND_IN const char* cudnnGetErrorString(int status) {
  return status ? "not supported by the double of CUDA" : "success";
}
GPULESS_STAND_IN void cudnnGetLastErrorString(char* text, std::size_t size) {
  if (size) *text = 0;
}

GPULESS_STAND_IN int cusolverDnCreate(void** out) { return make(out), 0; }
GPULESS_STAND_IN int cusparseCreate(void** out) { return make(out), 0; }
GPULESS_STAND_IN const char* cusparseGetErrorString(int) { return "not supported by the double of CUDA"; }

GPULESS_STAND_IN int nvrtcVersion(int* major, int* minor) { return *major = GPULESS_MAJOR, *minor = 0; }
GPULESS_STAND_IN const char* nvrtcGetErrorString(int) { return "not supported by the double of CUDA"; }

GPULESS_STAND_IN int cuptiGetVersion(std::uint32_t* version) { return *version = 0, 0; }
GPULESS_STAND_IN int cuptiGetResultString(int, const char** text) {
  return *text = "not supported by the double of CUDA", 0;
}
