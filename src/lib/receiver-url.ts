import { isIP } from 'node:net';
import type { AllowedHosts } from './allowed-hosts.ts';
import { isPublicAddress } from './public-address.ts';

/** RFC 6761: always this machine, with or without the dot at the end. */
const LOCAL_NAMES = /(^|\.)localhost\.?$/;

/**
 * Says why a text is no URL that something may be sent to, if so. The addresses of other names are checked when
 * something is sent.
 */
export function receiverProblem(text: string, allowed: AllowedHosts): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The parser repairs a lot (spaces, backslashes, missing slashes). What it repaired is refused.
  if (!url || !/^https?:\/\/[^\s\\/?#@]+([/?#][^\s\\]*)?$/i.test(text)) {
    return 'Must be a URL such as https://hooks.example.com/in, without user name and password.';
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isInside = isIP(host) === 0 ? LOCAL_NAMES.test(host) : !isPublicAddress(host);
  if (isInside && !allowed.allows(url)) {
    return 'Is not on the public internet. The operator of this service can allow the host with TRADEWIND_WEBHOOK_ALLOW_HOSTS.';
  }
  return undefined;
}
