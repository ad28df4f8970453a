/** Bare metal machines, which have neither a boot volume of their choice nor a server group, by their id. */
export function isBareMetal(flavorId: string): boolean {
  return flavorId.startsWith('bm');
}

/** Machines with a GPU, virtual or bare metal, by their id. */
export function isGpu(flavorId: string): boolean {
  return flavorId.includes('gpu');
}
