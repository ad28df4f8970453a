import fs from 'node:fs/promises';
import { workFigures } from '../convergence/measures.ts';
import type { Sql } from '../db/database.ts';
import { existingFolder } from '../lib/secret-file.ts';
import { mailFigures } from '../mail/sending/claims.ts';
import { unsealedSeconds } from '../tradewind/audit/chain.ts';
import { webhookFigures } from '../tradewind/webhooks/sending/figures.ts';

/** Longer than any task takes that isn't stuck; deletions of whole accounts may. */
const LONGEST_TASK_S = 2 * 3_600;
/** Records are sealed each minute. */
const LONGEST_UNSEALED_S = 15 * 60;
/** A disk with less is told of. What only reads is answered even when it is full. */
const LOW = { share: 0.05, bytes: 1024 ** 3 };

/** What is left undone in all processes together, in words for an operator; nobody's name is in them. */
export type Undone = Partial<Record<'tasks' | 'mails' | 'webhooks' | 'audit', string>>;

export async function undoneIn(sql: Sql): Promise<Undone> {
  const [work, mails, webhooks, unsealed] = await Promise.all([
    workFigures(sql),
    mailFigures(sql),
    webhookFigures(sql),
    unsealedSeconds(sql),
  ]);
  const undone: Undone = {};
  if (work.tasks.oldestSeconds > LONGEST_TASK_S) {
    undone.tasks = `the oldest task began ${hours(work.tasks.oldestSeconds)} ago and has not ended`;
  }
  if (mails.failing + mails.failed > 0) {
    undone.mails = `mails that can't be sent and are tried again: ${mails.failing}; given up in the last hour: ${mails.failed}`;
  }
  if (webhooks.failing > 0) undone.webhooks = `webhooks whose receivers don't take what is sent: ${webhooks.failing}`;
  if (unsealed > LONGEST_UNSEALED_S)
    undone.audit = `records of the audit log have not been sealed for ${hours(unsealed)}`;
  return undone;
}

const hours = (seconds: number) =>
  seconds < 2 * 3_600 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3_600)} hours`;

export interface Disk {
  freeBytes: number;
  sizeBytes: number;
}

/** Returns how full the disk of a folder is, as far as this process may fill it; undefined where nobody can say. */
export async function diskOf(folder: string): Promise<Disk | undefined> {
  try {
    const { bavail, blocks, bsize } = await fs.statfs(existingFolder(folder));
    return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
  } catch {
    return undefined;
  }
}

/** Says whether the disk of a folder, if there is one, is nearly full. */
export async function roomIn(folder: string | undefined): Promise<string | undefined> {
  const disk = folder === undefined ? undefined : await diskOf(folder);
  if (!disk || (disk.freeBytes >= LOW.bytes && disk.freeBytes >= LOW.share * disk.sizeBytes)) return undefined;
  return `${mebibytes(disk.freeBytes)} of ${mebibytes(disk.sizeBytes)} MiB are free on the disk of the data folder; without any, nothing can be changed`;
}

const mebibytes = (bytes: number) => Math.floor(bytes / 1024 ** 2);
