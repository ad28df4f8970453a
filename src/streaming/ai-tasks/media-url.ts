/** Why a text can't be the address of a media file; undefined when it can. The host is not looked up here. */
export function mediaUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The parser mends a great deal (spaces, backslashes, missing slashes); what it mended is refused.
  const sound = /^https?:\/\/[^\s\\/?#]/i.test(text) && !/[\s\\\p{Cc}]/u.test(text);
  if (sound && url && url.hostname !== '') return undefined;
  return 'Must be the address of a file, http:// or https:// with a host, e.g. https://example.com/video.mp4.';
}
