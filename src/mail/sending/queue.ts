import { sql } from 'kysely';
import type { SendMailOptions } from 'nodemailer';
import type { Logger } from 'pino';
import { type Database, holds, type Sql, type Transaction } from '../../db/database.ts';
import { waitAfter } from '../../lib/loop.ts';
import type { Clock } from '../../lib/time.ts';
import type { Secrets } from '../../secrets/secrets.ts';
import { claimsIn } from '../../worker/claims.ts';
import type { Queue } from '../../worker/worker.ts';
import { MAIL_KINDS, MAILS, type MailData, type MailKind, SENT_WITHIN_MS } from '../kinds.ts';
import type { Claimed } from './claims.ts';
import * as claims from './claims.ts';
import { faultOf, isFinal, type Outlet } from './outlets.ts';
import type { Templates } from './templates.ts';

const MOST_SHOWN = 300;
/** Line breaks and other controls, what turns the direction of writing, and what can't be seen within a word. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
/** In a domain, with or without an address before it. Browsers take the other characters for dots as well. */
const DOT_OF_DOMAIN = /(?<=\S)[.\u3002\uff0e\uff61](?=[\p{L}\p{M}]{2})/gu;
/** What is an address and nothing else by our own rules, and has to be shown as it is. */
const ADDRESSES = new Set(['address', 'host', 'user']);

/**
 * Turns what somebody typed into one short line. Programs that read mail make links of addresses and domains, which would
 * be ours as it seems, so these lose what makes them such.
 */
export function plain(text: string): string {
  return short(oneLine(text).replace(DOT_OF_DOMAIN, '. '));
}

/** Does so with every text. */
export function plainData<Data extends object>(data: Data): Data {
  const entries = Object.entries(data).map(([name, given]) => {
    const text = String(given);
    return [name, ADDRESSES.has(name) ? short(oneLine(text)) : plain(text)];
  });
  return Object.fromEntries(entries) as Data;
}

/** In a header, programs would decode what looks like an encoded word (RFC 2047). */
function oneLine(text: string): string {
  const line = text.toWellFormed().replace(CONTROLS, ' ');
  return line.replaceAll('://', ' ').replaceAll('=?', '= ?').trim();
}

function short(line: string): string {
  const characters = [...line.slice(0, 2 * MOST_SHOWN + 2)];
  return characters.length > MOST_SHOWN ? `${characters.slice(0, MOST_SHOWN - 1).join('')}…` : line;
}

/** How mails present themselves. */
export interface Letterhead {
  /** The sender's address. */
  from: string;
  /** Where people reach the platform, without a slash at the end; undefined if links are of no use. */
  publicUrl: string | undefined;
  templates: Templates;
}

/** Returns what a mail says, and the page that it links to. `reseller` and `company` are names as people have typed them. */
export function wordsOf(
  { publicUrl, templates }: Letterhead,
  kind: MailKind,
  names: { reseller: string; company: string },
  data: MailData[MailKind],
) {
  const [reseller, company] = [plain(names.reseller), plain(names.company)];
  const page = (MAIL_KINDS[kind].page as (data: object) => string | undefined)(data);
  const link = publicUrl === undefined || page === undefined ? null : `${publicUrl}/${page}`;
  return { reseller, link, ...templates.render(kind, { ...data, reseller, company, link }) };
}

/** Writes a mail. Sent twice after a crash, it has the same ID, so that programs may show it once. */
export function messageOf(
  letterhead: Letterhead,
  { id, kind, receiver, created_at, ...names }: Claimed,
  data: MailData[MailKind],
): SendMailOptions {
  const { from } = letterhead;
  const { reseller, link, subject, text, html } = wordsOf(letterhead, kind, names, data);
  return {
    from: { name: reseller, address: from },
    to: { name: '', address: receiver },
    envelope: { from, to: [receiver] },
    subject,
    text,
    html,
    date: created_at,
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: {
      // Nobody's out-of-office answer is of use (RFC 3834).
      'Auto-Submitted': 'auto-generated',
      ...(MAIL_KINDS[kind].isSubscribed &&
        link !== null && { 'List-Unsubscribe': { prepared: true, value: `<${link}>` } }),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** What becomes of a mail: the time of the next attempt, or how it ended. */
export type Next = { again: Date } | { ended: 'sent' | 'failed' };

/** Notes an attempt, unless the mail is no longer this worker's. */
export async function noteAttempt(
  tx: Transaction,
  workerId: string,
  { id, attempts }: { id: string; attempts: number },
  { fault, next, now }: { fault: string | null; next: Next; now: Date },
): Promise<void> {
  const ended = 'ended' in next;
  await sql`
    update mails set worker_id = null, state = ${ended ? next.ended : 'pending'}, due_at = ${ended ? null : next.again},
      ended_at = ${ended ? now : null}, fault = ${fault}, data = case when not ${ended} then data end
    where id = ${id} and worker_id = ${workerId} and attempts = ${attempts}`.execute(tx.sql);
}

/** Whether there is something for `giveUp` or `bringBack`. */
const anyLate = ({ now, latest }: { now: Date; latest: Date }) =>
  sql<boolean>`exists (select from mails where state = 'pending' and expires_at <= ${now} and worker_id is null)
    or exists (select from mails where due_at > ${latest} and worker_id is null)`;

/** Gives up what could not be sent in time, at most `limit` of it. Returns each with its last fault. */
export async function giveUp(
  db: Sql,
  { now, limit }: { now: Date; limit: number },
): Promise<{ id: string; kind: string; fault: string | null }[]> {
  const { rows } = await sql<{ id: string; kind: string; fault: string | null }>`
    update mails set state = 'failed', due_at = null, ended_at = ${now}, data = null
    where id = any(array(
      select id from mails where state = 'pending' and expires_at <= ${now} and worker_id is null
      order by expires_at limit ${limit}))
    returning id, kind, fault`.execute(db);
  return rows;
}

/** Lets what is due long after the longest wait be sent now: the clock was set back. */
export async function bringBack(db: Sql, { now, latest }: { now: Date; latest: Date }): Promise<void> {
  await sql`update mails set due_at = ${now} where due_at > ${latest} and worker_id is null`.execute(db);
}

const WAITS = { firstMs: 10_000, longestMs: 3_600_000 };

export interface Sender {
  workerId: string;
  database: Database;
  clock: Clock;
  secrets: Secrets;
  outlet: Outlet;
  letterhead: Letterhead;
  /** Makes what is attached to mails of a kind, when they are sent. */
  attach?: (kind: MailKind, data: MailData[MailKind]) => Promise<SendMailOptions['attachments']>;
  log: Logger;
  random?: () => number;
}

/** Sends a mail once, and notes what came of it. */
export async function attemptMail(sender: Sender, claimed: Claimed): Promise<void> {
  const { workerId, database, clock, log, random = Math.random } = sender;
  const { id, kind, attempts } = claimed;
  const failure = await send(sender, claimed);
  const now = clock.now();
  const again = new Date(now.getTime() + waitAfter(attempts, WAITS, random));
  const lost = failure?.final === true || again >= claimed.expires_at;
  const next: Next = failure && !lost ? { again } : { ended: failure ? 'failed' : 'sent' };
  if (failure) {
    const told = { mail: id, kind, attempts, fault: failure.fault };
    if (lost) log.warn(told, 'A mail is given up');
    else log[attempts === 1 ? 'warn' : 'debug'](told, 'A mail could not be sent; it is tried again');
  }
  await database.transaction((tx) => noteAttempt(tx, workerId, claimed, { fault: failure?.fault ?? null, next, now }));
}

async function send({ secrets, outlet, letterhead, attach }: Sender, claimed: Claimed) {
  try {
    const data = await secrets.open<MailData[MailKind]>('mails.data', [claimed.id], claimed.data);
    const attachments = await attach?.(claimed.kind, data);
    const message = messageOf(letterhead, claimed, data);
    await outlet.send(claimed, { ...message, ...(attachments && { attachments }) });
    return undefined;
  } catch (error) {
    return { fault: faultOf(error), final: isFinal(error) };
  }
}

/** Mails that a process sends at a time. */
const HERE = 8;
const GIVE_UP_BATCH = 100;

/** The queue of mails: each sent by one worker at a time. */
export function mailQueue(sender: Sender): Queue {
  const { database, workerId, clock, log } = sender;
  return {
    name: 'mails',
    topic: MAILS,
    isDue: () => claims.anyDue(clock.now()),
    async take(inHand, begin) {
      const limit = HERE - inHand.size;
      if (limit <= 0) return false;
      const taken = await claims.takeDue(database.sql, { workerId, now: clock.now(), limit });
      for (const claimed of taken) {
        // An attempt that has begun is ended: nobody knows what the server has taken.
        begin({ key: claimed.id, state: claimed.attempts, work: () => attemptMail(sender, claimed) });
      }
      return taken.length > 0;
    },
    ...claimsIn(database.sql, workerId, { table: 'mails', key: 'id', count: 'attempts' }),
    async sweep() {
      const now = clock.now();
      const latest = new Date(now.getTime() + SENT_WITHIN_MS);
      if (!(await holds(database.sql, anyLate({ now, latest })))) return;
      await bringBack(database.sql, { now, latest });
      for (const { id, kind, fault } of await giveUp(database.sql, { now, limit: GIVE_UP_BATCH }))
        log.warn({ mail: id, kind, fault }, 'A mail is given up');
    },
  };
}
