import fs from 'node:fs/promises';
import path from 'node:path';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Logger } from 'pino';
import { isLocalHost } from '../../lib/ip-addresses.ts';
import { keptText } from '../../lib/texts.ts';

/** Where mails leave. */
export interface Outlet {
  /** @throws if the mail did not leave */
  send(mail: { id: string; kind: string }, message: SendMailOptions): Promise<void>;
  /** @throws if no mail could leave */
  verify(): Promise<void>;
  close(): void;
}

const CONNECT_MS = 10_000;
/** Without a word from the server. */
const SILENCE_MS = 60_000;
const SEND_MS = 5 * 60_000;
const CONNECTIONS = 4;

/**
 * Hands mails to an SMTP server. With `smtp:` it changes to TLS if the server offers that; with a password it insists on
 * it, unless the server is on this machine.
 */
export function smtpOutlet(smtpUrl: string): Outlet {
  const url = new URL(smtpUrl);
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const user = decodeURIComponent(url.username);
  const auth = user === '' ? undefined : { user, pass: decodeURIComponent(url.password) };
  const transport = createTransport({
    pool: true,
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    ...(auth && { auth, requireTLS: !secure && !isLocalHost(host) }),
    maxConnections: CONNECTIONS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  });
  return {
    async send(_mail, message) {
      await transport.sendMail({ ...message, signal: AbortSignal.timeout(SEND_MS) });
    },
    async verify() {
      await transport.verify();
    },
    close: () => transport.close(),
  };
}

/** Puts mails into a folder, for people who have no SMTP server. Says so in the log, once. */
export function folderOutlet(folder: string, log: Logger): Outlet {
  const transport = createTransport({ streamTransport: true, buffer: true });
  let said = false;
  return {
    async send({ id, kind }, message) {
      const { message: text } = await transport.sendMail(message);
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      // Others must not read it, since links in it are secret.
      const file = path.join(folder, `${id}-${kind}.eml`);
      await fs.writeFile(`${file}.new`, text as Buffer, { mode: 0o600 });
      await fs.rename(`${file}.new`, file);
      if (!said) log.warn({ folder }, 'Mails wait in this folder and are not sent: set TRADEWIND_SMTP_URL');
      said = true;
    },
    verify: async () => {},
    close: () => transport.close(),
  };
}

const MOST_SHOWN = 300;

/** What nodemailer tells of an error. */
interface SmtpError extends Error {
  code?: string;
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
