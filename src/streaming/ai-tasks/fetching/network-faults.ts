import { MediaError } from './media-error.ts';

/** Node's codes for unreachable machines, in words for the owner of the address. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host name is not known',
  EAI_AGAIN: 'its host name could not be looked up',
  EAI_FAIL: 'its host name could not be looked up',
  EBADNAME: 'its host name could not be looked up',
  EBADRESP: 'its host name could not be looked up',
  EREFUSED: 'its host name could not be looked up',
  ESERVFAIL: 'its host name could not be looked up',
  ETIMEOUT: 'its host name could not be looked up',
  ENODATA: 'its host name has no address',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was lost',
  ETIMEDOUT: 'it did not answer in time',
  EHOSTUNREACH: 'its network is unreachable',
  ENETUNREACH: 'its network is unreachable',
  EADDRNOTAVAIL: 'its network is unreachable',
  EACCES: 'its network is unreachable',
  EPROTO: 'it does not speak HTTPS properly',
};

/** Returns the reason for the owner of an address if the other side is at fault; other errors unchanged. */
export function faultOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof MediaError) return error;
  // Several addresses were tried, and all failed.
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  const { code = '', syscall } = cause as NodeJS.ErrnoException;
  // Files share some error codes with sockets.
  if (syscall === 'open' || syscall === 'write') return error;
  const why = UNREACHABLE[code] ?? protocolFault(code);
  return why === undefined ? error : new MediaError('unreachable', `The file can't be reached: ${why}`);
}

function protocolFault(code: string): string | undefined {
  if (code.startsWith('HPE_')) return 'its server does not speak HTTP properly';
  if (/CERT|SSL|TLS|SELF_SIGNED|ISSUER|UNABLE_TO/.test(code))
    return `its certificate can't be trusted (${code})`;
  return undefined;
}
