/** Hosts that may be contacted although their addresses are not public. */
export interface AllowedHosts {
  allows(url: URL): boolean;
}

export const NO_HOSTS: AllowedHosts = { allows: () => false };

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Parses a list such as `media.internal, 10.0.0.7:8080, [fd00::1]:80`. A host without a port is allowed with
 * every port. Returns undefined if an entry is not a host.
 */
export function parseAllowedHosts(text: string): AllowedHosts | undefined {
  const entries = new Set<string>();
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    const parsed = hostAndPort(entry);
    if (parsed === undefined) return undefined;
    entries.add(parsed);
  }
  return {
    allows(url) {
      const host = url.hostname;
      const port = url.port || DEFAULT_PORTS[url.protocol];
      return entries.has(host) || entries.has(`${host}:${port}`);
    },
  };
}

/** Normalizes a host as the URL parser does, so that `0x7f.1` and `127.0.0.1` are the same. */
function hostAndPort(entry: string): string | undefined {
  if (/[/?#@\s\\]/.test(entry) || !URL.canParse(`http://${entry}`)) return undefined;
  const { hostname, port } = new URL(`http://${entry}`);
  if (port !== '') return `${hostname}:${port}`;
  return /:0*80$/.test(entry) ? `${hostname}:80` : hostname;
}
