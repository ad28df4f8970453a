/** Changes to the theme that isn't shown now, and keeps it for this browser. */
export function toggleTheme(): void {
  const root = document.documentElement;
  const shown = root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  const next = shown === 'dark' ? 'light' : 'dark';
  root.dataset.theme = next;
  localStorage.setItem('theme', next);
}
