import { MODULES } from './modules.mjs';

/** In the folder of the rules, and no rules: schemas of the API, which openapi/ holds, and what meets disk or clock. */
const OTHERS = [
  'src/cloud/kubernetes/clusters/configuration/*schema.ts',
  'src/lib/{schema-kit,resource-fields,wire}.ts',
  'src/lib/{clock,existing-folder,loop,package-root,public-lookup,secret-file,until-aborted}.ts',
  '**/*.test.ts',
];

export default {
  plugins: ['@stryker-mutator/vitest-runner', './test/mutation/prose.mjs'],
  mutate: [...MODULES.map((module) => `${module}.ts`), ...OTHERS.map((other) => `!${other}`)],
  ignorers: ['prose'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.mjs', related: true },
  coverageAnalysis: 'perTest',
  // Constants of a module run once for all tests: each such mutant would take the whole set.
  ignoreStatic: true,
  concurrency: 2,
  // Not there: Stryker would read it through an interface that TypeScript no longer has.
  tsconfigFile: 'none.json',
  ignorePatterns: ['dist', 'data', 'docs', 'bench', 'reports'],
  tempDirName: '.stryker-tmp',
  reporters: ['clear-text', 'json', 'html'],
  clearTextReporter: { reportTests: false, reportMutants: false },
};
