import validator from 'validator/lib/isEmail.js';

/** With a host, and a password only with a name. The port is 465 or 587 if it is left out. */
export function isSmtpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return false;
  const bare = ['', '/'].includes(url.pathname) && url.search === '' && url.hash === '';
  return bare && isDecodable(url.username) && isDecodable(url.password) && (url.username !== '' || !url.password);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Also one of this machine. */
export function isMailAddress(text: string): boolean {
  return validator.default(text, { require_tld: false });
}

export function isPublicUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && !/[?#@\s]/.test(text);
}
