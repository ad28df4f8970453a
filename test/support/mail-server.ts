import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { vi } from 'vitest';
import { SOON } from './http-client.ts';

/** A mail as an SMTP server got it, and as a mail program reads it. */
export interface ReceivedMail {
  from: string;
  to: string[];
  /** Whether it came over TLS. */
  secure: boolean;
  /** Who logged in to send it. */
  user: string | undefined;
  raw: string;
  mail: Email;
}

export interface MailServer {
  port: number;
  /** In the order in which they came. */
  received: ReceivedMail[];
  /** Refuses a receiver with an error that has a `responseCode`, as long as it returns one. */
  refuse: (address: string) => Error | undefined;
  /** Refuses what was sent. */
  refuseText: () => Error | undefined;
  /** Waits for the mail to an address with these words in its subject. */
  mailTo(address: string, subject?: string): Promise<ReceivedMail>;
  forget(): void;
  stop(): Promise<void>;
}

export function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}

/** Starts an SMTP server, by default without TLS and login. */
export async function openMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const server = new SMTPServer({
    disabledCommands: options.key ? [] : ['STARTTLS', 'AUTH'],
    onRcptTo: ({ address }, _session, done) => done(found.refuse(address) ?? null),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const refused = found.refuseText();
        if (refused) return done(refused);
        const raw = Buffer.concat(chunks).toString();
        const { mailFrom, rcptTo } = session.envelope;
        found.received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          secure: session.secure === true,
          user: session.user === undefined ? undefined : String(session.user),
          raw,
          mail: await PostalMime.parse(raw),
        });
        return done();
      });
    },
    ...options,
  });
  // A client that refuses its certificate hangs up.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const found: MailServer = {
    port: (server.server.address() as AddressInfo).port,
    received: [],
    refuse: () => undefined,
    refuseText: () => undefined,
    mailTo: (address, subject = '') =>
      vi.waitFor(() => {
        const one = found.received.find(({ to, mail }) => to.includes(address) && mail.subject?.includes(subject));
        if (!one) throw new Error(`No mail to ${address} (${subject}) among ${found.received.length}`);
        return one;
      }, SOON),
    forget() {
      found.received = [];
      found.refuse = () => undefined;
      found.refuseText = () => undefined;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return found;
}
