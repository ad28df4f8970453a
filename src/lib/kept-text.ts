/** Returns the beginning of somebody else's text as the database can keep it: without NUL and half characters. */
export const keptText = (text: string, most: number): string =>
  text.replaceAll('\0', '').slice(0, most).toWellFormed();
