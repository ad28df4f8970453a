/** Whether an `Accept` header names a media type. Its order and its weights (`q`) are not read. */
export const accepts = (header: string | undefined, mediaType: string): boolean =>
  header?.toLowerCase().includes(mediaType) ?? false;
