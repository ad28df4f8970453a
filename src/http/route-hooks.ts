/** The hooks that a route has already, which may be none, one or more. */
export function hooks<Hook>(given: Hook | Hook[] | undefined): Hook[] {
  if (given === undefined) return [];
  return Array.isArray(given) ? given : [given];
}
