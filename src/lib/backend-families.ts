/** Groups of kinds that a region assigns to a backend together. */
export const BACKEND_FAMILIES = ['network', 'compute', 'storage', 'kubernetes', 'file_share'] as const;
export type BackendFamily = (typeof BACKEND_FAMILIES)[number];
