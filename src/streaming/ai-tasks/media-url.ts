/** Returns why a text can't be the address of a media file; undefined if it can. Doesn't look up the host. */
export function mediaUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The parser repairs a lot (spaces, backslashes, missing slashes); addresses that need it are refused.
  const sound = /^https?:\/\/[^\s\\/?#]/i.test(text) && !/[\s\\\p{Cc}]/u.test(text);
  if (sound && url && url.hostname !== '') return undefined;
  return 'Must be the address of a file, http:// or https:// with a host, e.g. https://example.com/video.mp4.';
}
