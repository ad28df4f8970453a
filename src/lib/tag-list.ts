/** Tags as answers show them. */
export function presentedTags(
  tags: Record<string, string>,
): { key: string; value: string; read_only: boolean }[] {
  return Object.entries(tags).map(([key, value]) => ({ key, value, read_only: false }));
}
