// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
__device__ __forceinline__ float load_value(const __nv_bfloat16* p) { return __bfloat162float(*p); }
__device__ __forceinline__ void store_value(__nv_bfloat16* p, float x) { *p = __float2bfloat16_rn(x); }
