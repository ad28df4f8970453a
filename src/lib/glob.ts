/** Returns a test for texts: `*` stands for any characters, `?` for one. */
export function globOf(pattern: string): (text: string) => boolean {
  const parts = [...pattern].map((one) => {
    if (one === '*') return '.*';
    return one === '?' ? '.' : one.replace(/[\\^$.|+()[\]{}]/, String.raw`\$&`);
  });
  const expression = new RegExp(`^${parts.join('')}$`, 'su');
  return (text) => expression.test(text);
}
