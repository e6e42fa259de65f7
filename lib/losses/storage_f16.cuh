// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>
__device__ __forceinline__ float load_value(const __half* p) { return __half2float(*p); }
__device__ __forceinline__ void store_value(__half* p, float x) { *p = __float2half_rn(x); }
