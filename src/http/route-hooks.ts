/** Returns the hooks that a route already has, which may be none, one or several. */
export function hooks<Hook>(given: Hook | Hook[] | undefined): Hook[] {
  if (given === undefined) return [];
  return Array.isArray(given) ? given : [given];
}
