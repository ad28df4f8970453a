import fs from 'node:fs';
import path from 'node:path';
import { parseSync } from '@swc/core';
import type { FormatName } from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openApiDocuments } from '../../scripts/openapi-documents.ts';
import { sourceFiles } from '../../scripts/source-files.ts';
import { ROOT } from '../acceptance/processes.ts';
import { nodesOf } from '../support/openapi-examples.ts';

/**
 * If the time of matching grows faster than the text, one request can block the server. An automaton of each
 * pattern proves that it takes linear time; a pattern that can't be proven has to be rewritten.
 */
vi.stubEnv('RECHECK_BACKEND', 'pure');
const { check } = await import('recheck');
afterAll(() => void vi.unstubAllEnvs());

/** Its automaton is too large, but it only reads the 512 characters of a path that are logged. */
const SHORT_TEXTS = ['src/http/access-log.ts'];

const patterns = [...(await ofDocuments()), ...ofCode()];

describe('takes time in proportion to the text', () => {
  it.each(patterns)('%s of %s', async (pattern) => {
    const end = pattern.lastIndexOf('/');
    const verdict = await check(pattern.slice(1, end), pattern.slice(end + 1), {
      checker: 'automaton',
      timeout: 25_000,
    });
    expect(verdict.status === 'unknown' ? verdict.error : verdict.complexity.summary).toMatch(/^(safe|linear)$/);
  });
});

it('finds patterns to test', () => {
  expect(patterns.length).toBeGreaterThan(60);
});

/** Returns the patterns for requests and answers, as the validator reads them. */
async function ofDocuments(): Promise<[string, string][]> {
  const found = new Map<string, string>();
  for (const { document } of await openApiDocuments()) {
    for (const { pointer, node } of nodesOf(document)) {
      const names = Object.keys((node.patternProperties as object | undefined) ?? {});
      for (const pattern of [node.pattern, ...names]) {
        if (typeof pattern === 'string') found.set(`/${pattern}/u`, pointer);
      }
      const format = fullFormats[node.format as FormatName];
      if (format instanceof RegExp) found.set(String(format), pointer);
    }
  }
  return [...found];
}

/** Returns every regular expression in the code that may be applied to a stranger's text. */
function ofCode(): [string, string][] {
  const found = new Map<string, string>();
  // These files read text from the operator and from PostgreSQL.
  const foreign = ['src', 'engines', 'kubernetes', 'openstack', 'simulation', 'test-kit']
    .flatMap((folder) => sourceFiles(undefined, folder))
    .filter((file) => !/\.test\.ts$|\/fixtures\/|^src\/start\//.test(file) && !SHORT_TEXTS.includes(file));
  for (const file of foreign) {
    const code = fs.readFileSync(path.join(ROOT, file), 'utf8');
    collect(parseSync(code, { syntax: 'typescript', target: 'es2024' }), file);
  }
  return [...found];

  function collect(node: unknown, file: string): void {
    if (typeof node !== 'object' || node === null) return;
    const { type, pattern, flags } = node as { type?: string; pattern?: string; flags?: string };
    if (type === 'RegExpLiteral') found.set(`/${pattern}/${flags}`, file);
    for (const child of Object.values(node)) collect(child, file);
  }
}
