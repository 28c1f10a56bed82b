// The kernels whose Fermi machine code "dude, where're my registers?" lists: one word a thread here, so that many warps can run them.
// fermi.ptx is written by hand after them; its loops of add and vadd ask what the listing leaves open.
typedef unsigned int u32;
extern "C" __global__ void monadic(const u32* a0, u32* out) { out[threadIdx.x] = a0[threadIdx.x] + 1u; }
extern "C" __global__ void dyadic(const u32* a0, u32* a1) {
  for (u32 c = 0; c < a0[threadIdx.x]; ++c) a1[threadIdx.x] += a0[threadIdx.x];
}
extern "C" __global__ void triadic(const u32* __restrict__ a0, u32* __restrict__ a1, const u32* __restrict__ a2) {
  a1[threadIdx.x] = a0[threadIdx.x] + a1[threadIdx.x] + a2[threadIdx.x];
}
extern "C" __global__ void triadic_vadd(const u32* __restrict__ a0, u32* __restrict__ a1, const u32* __restrict__ a2) {
  u32 d;
  asm("vadd.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(d) : "r"(a0[threadIdx.x]), "r"(a1[threadIdx.x]), "r"(a2[threadIdx.x]));
  a1[threadIdx.x] = d;
}
