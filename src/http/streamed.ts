import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { goneSignal } from './gone-signal.ts';

/** A reader that takes nothing for so long is cut off. */
const SLOW_MS = 45_000;

/**
 * Answers with what comes, as fast as the reader takes them. A reader that may not read any more is cut off: what it
 * has is not all, and must not look so.
 */
export function streamed(
  reply: FastifyReply,
  mediaType: string,
  chunks: AsyncIterable<string | Uint8Array>,
  slowMs = SLOW_MS,
): FastifyReply {
  goneSignal(reply).addEventListener('abort', () => {
    if (!reply.raw.writableEnded) reply.raw.destroy();
  });
  reply.raw.setTimeout(slowMs, () => reply.raw.destroy());
  return (
    reply
      .type(mediaType)
      // A proxy must not collect what is meant to be read at once.
      .header('x-accel-buffering', 'no')
      // A server that stops waits for connections that may be used again.
      .header('connection', 'close')
      .send(Readable.from(chunks, { objectMode: false }))
  );
}

type Cell = string | number | boolean | null | undefined | object;

/** A spreadsheet takes a text that begins so for a formula, and runs it. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Returns the records as CSV (RFC 4180) with a line of field names. What a record doesn't have is empty, and lists are
 * JSON. A text that a spreadsheet would run has an apostrophe before it.
 */
export function csvOf<Field extends string>(
  fields: readonly Field[],
  records: readonly Partial<Record<Field, Cell>>[],
): string {
  return `${lineOf(fields)}${csvLines(fields, records)}`;
}

/** Returns the same without the names. */
export function csvLines<Field extends string>(
  fields: readonly Field[],
  records: readonly Partial<Record<Field, Cell>>[],
): string {
  return records.map((record) => lineOf(fields.map((field) => record[field]))).join('');
}

const lineOf = (cells: readonly Cell[]) => `${cells.map(cellOf).join(',')}\r\n`;

function cellOf(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  const plain = typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Whether an `Accept` header names a media type. Its order and its weights (`q`) are not read. */
export const accepts = (header: string | undefined, mediaType: string): boolean =>
  header?.toLowerCase().includes(mediaType) ?? false;
