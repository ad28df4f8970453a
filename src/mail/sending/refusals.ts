import { keptText } from '../../lib/texts.ts';

const MOST_SHOWN = 300;

/** What nodemailer tells of an error. */
interface SmtpError extends Error {
  code?: string;
  /** The server's answer. */
  responseCode?: number;
  /** What it answered to. */
  command?: string;
}

/** What servers refuse a mail for, and not us: its receiver or its text. */
const OF_THE_MAIL = new Set(['RCPT TO', 'DATA']);
/** They want a login or TLS first. */
const OF_OURS = new Set([530, 535, 538]);

/** Whether a mail will never be taken. What is wrong with our own connection, password or sender may be mended. */
export function isFinal(error: unknown): boolean {
  const { responseCode = 0, command = '' } = error as SmtpError;
  return responseCode >= 500 && OF_THE_MAIL.has(command) && !OF_OURS.has(responseCode);
}

/** Returns what went wrong, for the log and the database. */
export function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, MOST_SHOWN);
  const text = error.message || (error as SmtpError).code || error.name;
  return keptText(text, MOST_SHOWN);
}
