import pg from 'pg';
import { LOCK_EXCEPTIONS, LOCK_ORDER } from '../../../src/db/lock-order.ts';

/** The statements that locked the second of two tables after the first, by `first second`. */
export type LockedPairs = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns which statements lock against `LOCK_ORDER`, and which tables it doesn't have. */
export function outOfOrder(pairs: LockedPairs): string[] {
  const places = new Map<string, number>(LOCK_ORDER.map((table, place) => [table, place]));
  return [...pairs].flatMap(([pair, statements]) => {
    const [first = '', second = ''] = pair.split(' ');
    const unknown = [first, second].filter((table) => !places.has(table));
    if (unknown.length > 0) return unknown.map((table) => `LOCK_ORDER has no ${table}`);
    if ((places.get(first) ?? 0) < (places.get(second) ?? 0)) return [];
    const allowed = LOCK_EXCEPTIONS.filter(({ locks, after = [first] }) => locks === second && after.includes(first));
    const wrong = [...statements].filter((statement) => !allowed.some(({ text }) => statement.includes(text)));
    return wrong.map((text) => `${second} after ${first}: ${text}`);
  });
}

/** Records in which order the transactions of this process lock rows, by table, until `stop` is called. */
export function recordLocks(): { pairs: LockedPairs; stop(): void } {
  const pairs = new Map<string, Set<string>>();
  /** The tables that the transaction of each connection has locked rows of. */
  const locked = new WeakMap<object, string[]>();
  const clients = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const { query } = clients;
  clients.query = function (this: object, config, ...rest) {
    const text = typeof config === 'string' ? config : ((config as { text?: string } | undefined)?.text ?? '');
    if (/^\s*(begin|start transaction)/i.test(text)) locked.set(this, []);
    else if (/^\s*(commit|rollback)\s*$/i.test(text)) locked.delete(this);
    else note(locked.get(this), text);
    return query.call(this, config, ...rest);
  };

  function note(before: string[] | undefined, text: string): void {
    if (!before) return;
    for (const table of tablesLockedBy(text)) {
      if (before.includes(table)) continue;
      for (const first of before) {
        const pair = `${first} ${table}`;
        pairs.set(pair, (pairs.get(pair) ?? new Set()).add(text.trim().replaceAll(/\s+/g, ' ')));
      }
      before.push(table);
    }
  }

  return {
    pairs,
    stop() {
      clients.query = query;
    },
  };
}

const LOCKS = /\bfor\s+(?:no\s+key\s+)?update\b(?!(?:\s+of\s+"?\w+"?)?\s+skip)(?:\s+of\s+"?(?<of>\w+)"?)?/gi;

/** In the order of the text: the tables whose rows a statement locks, and waits for. Wants go with their things. */
export function tablesLockedBy(text: string): string[] {
  return [...text.matchAll(LOCKS)].flatMap(({ index, groups = {} }) => {
    const table = tableOf(sameQuery(text.slice(0, index)), groups.of);
    return table === undefined || table === 'wants' ? [] : [table];
  });
}

/** The end of the text without what is in parentheses there, and from where they open. */
function sameQuery(text: string): string {
  let depth = 0;
  let kept = '';
  for (let at = text.length - 1; at >= 0 && depth >= 0; at--) {
    const letter = text.charAt(at);
    if (letter === ')') depth++;
    else if (letter === '(') depth--;
    else if (depth === 0) kept = letter + kept;
  }
  return kept;
}

/** The table that a lock is about: the one with this alias, or else the first. */
function tableOf(query: string, alias: string | undefined): string | undefined {
  const tables = [...query.matchAll(/\b(?:from|join)\s+"?(\w+)"?(?:\s+as)?(?:\s+"?(\w+)"?)?/gi)];
  const own = tables.find(([, table, other]) => alias !== undefined && (other === alias || table === alias));
  return (own ?? tables[0])?.[1];
}
