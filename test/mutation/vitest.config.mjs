import fs from 'node:fs';
import path from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { MODULES } from './modules.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const DATABASE = /support\/(?!secrets|http-client)|inject\(/;

/** The tests in the folders of the modules, without the global setup: it starts PostgreSQL, which none of them needs. */
const include = [...new Set(MODULES.map((module) => `${path.posix.dirname(module)}/*.test.ts`))];
const exclude = include.flatMap((glob) => {
  const folder = path.dirname(glob);
  return fs
    .readdirSync(path.join(ROOT, folder))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => path.posix.join(folder, name))
    .filter((file) => DATABASE.test(fs.readFileSync(path.join(ROOT, file), 'utf8')));
});

export default defineConfig({ test: { include, exclude: [...configDefaults.exclude, ...exclude] } });
