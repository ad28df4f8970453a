export type MediaErrorCode =
  | 'unreachable'
  | 'private_address'
  | 'http_status'
  | 'redirects'
  | 'too_large'
  | 'too_slow'
  | 'encoding'
  | 'empty';

/**
 * A file is not available, through no fault of ours; retrying won't help. The message tells its owner why.
 */
export class MediaError extends Error {
  readonly code: MediaErrorCode;
  override get name(): string {
    return 'MediaError';
  }

  constructor(code: MediaErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function privateAddress(): MediaError {
  return new MediaError(
    'private_address',
    'The host of the address (or of a redirect) is not on the public internet, and files are only fetched from there. The operator of this service can allow a host by TRADEWIND_MEDIA_ALLOW_HOSTS.',
  );
}
