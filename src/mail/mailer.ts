import { sql } from 'kysely';
import type { Logger } from 'pino';
import { v7 } from 'uuid';
import type { Transaction } from '../db/database.ts';
import type { Clock } from '../lib/time.ts';
import type { Secrets } from '../secrets/secrets.ts';
import * as kinds from './kinds.ts';
import { plainData } from './sending/queue.ts';

const HOUR_MS = 3_600_000;
const TURNS = 200;
const OF_ACCOUNT = kinds.KIND_NAMES.filter((kind) => kinds.MAIL_KINDS[kind].ofAccount);

export type NewMail = { [Kind in kinds.MailKind]: MailOf<Kind> }[kinds.MailKind];
interface MailOf<Kind extends kinds.MailKind> {
  kind: Kind;
  to: string;
  clientId: number;
  data: kinds.MailData[Kind];
  /** When it has become useless. */
  until?: Date;
  /** Another mail of the kind to the same address with the same text is not sent for a week. */
  once?: string;
}

/** Writes mails into the queue. */
export interface Mailer {
  /**
   * Queues mails in the caller's transaction. Leaves out those that are too many for their receiver or their account
   * in an hour, and says so in the log.
   */
  queue(tx: Transaction, mails: readonly NewMail[]): Promise<void>;
}

export function createMailer(deps: { clock: Clock; secrets: Pick<Secrets, 'seal'>; log: Logger }): Mailer {
  const { clock, secrets, log } = deps;

  function row({ kind, to, clientId, data, until, once }: NewMail, now: Date) {
    const id = v7();
    const latest = new Date(now.getTime() + kinds.SENT_WITHIN_MS);
    return {
      id,
      kind,
      receiver: to,
      client_id: clientId,
      data: secrets.seal('mails.data', [id], plainData(data)),
      once: once === undefined ? null : `${kind} ${to.toLowerCase()} ${once}`,
      expires_at: until !== undefined && until < latest ? until : latest,
      most: kinds.MAIL_KINDS[kind].most,
      most_by_account: kinds.MAIL_KINDS[kind].mostByAccount ?? kinds.MAIL_KINDS[kind].most,
      of_account: kinds.MAIL_KINDS[kind].ofAccount,
    };
  }

  return {
    async queue(tx, mails) {
      const now = clock.now();
      // RFC 2606: this domain never receives anything. Accounts without an address have one there.
      const rows = mails.filter(({ to }) => !/\.invalid$/i.test(to)).map((mail) => row(mail, now));
      if (rows.length === 0) return;
      await inTurn(tx, rows);
      const since = new Date(now.getTime() - HOUR_MS);
      const { rows: done } = await sql<{ kind: kinds.MailKind; client_id: number; queued: boolean }>`
        with given as (
          select *, row_number() over (partition by lower(receiver), kind order by id) as of_receiver,
            row_number() over (partition by lower(receiver), kind, client_id order by id) as of_both,
            row_number() over (partition by client_id, of_account order by id) as of_client
          from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given (id uuid, kind text, receiver text,
            client_id bigint, data text, once text, expires_at timestamptz, most integer,
            most_by_account integer, of_account boolean)
        ), judged as materialized (
          select *, of_receiver + (
              select count(*) from mails where lower(mails.receiver) = lower(given.receiver)
                and mails.kind = given.kind and created_at > ${since}) <= most
            and of_both + (
              select count(*) from mails where lower(mails.receiver) = lower(given.receiver)
                and mails.kind = given.kind and mails.client_id = given.client_id
                and created_at > ${since}) <= most_by_account
            and (not of_account or of_client + (
              select count(*) from mails where mails.client_id = given.client_id
                and mails.kind = any(${OF_ACCOUNT}::text[]) and created_at > ${since}) <= ${kinds.MOST_OF_ACCOUNT}) as queued
          from given
        ), inserted as (
          insert into mails (id, kind, receiver, client_id, data, once, due_at, expires_at, created_at)
          select id, kind, receiver, client_id, data::jsonb, once, ${now}, expires_at, ${now} from judged where queued
          on conflict (once) do nothing
        )
        select kind, client_id, queued from judged`.execute(tx.sql);
      if (done.some(({ queued }) => queued)) tx.announce(kinds.MAILS);
      const refused = done.find(({ queued }) => !queued);
      if (!refused) return;
      const { kind, client_id: client } = refused;
      tx.afterCommit(() => log.warn({ kind, client }, 'Too many mails in an hour: one is not sent'));
    },
  };
}

/** Lets only one transaction at a time count and queue mails of an address, and of an account. */
async function inTurn(tx: Transaction, rows: readonly { receiver: string; client_id: number; of_account: boolean }[]) {
  const keys = rows.flatMap(({ receiver, client_id, of_account }) => [
    `to ${receiver.toLowerCase()}`,
    ...(of_account ? [`of ${client_id}`] : []),
  ]);
  // Always in the same order, so that two transactions don't wait for each other. The database has room for some
  // thousand locks, so that many addresses share one.
  await sql`
    select pg_advisory_xact_lock(hashtext('tradewind mails'), turn) from (
      select distinct abs(hashtext(key) % ${TURNS}) as turn from unnest(${keys}::text[]) as key order by turn
    ) as turns`.execute(tx.sql);
}
