/**
 * Which part of the code may import which. Parsed by swc, which also sees `import type`: a type is a
 * dependency too.
 */
const FEATURE = '^src/(cloud/[^/]+|streaming|iam|tradewind)/';
const FACE =
  '/(service|changes|in-transaction|formula|presenter|schema|states|tasks|wanted|metadata/routes)\\.ts$|-schema\\.ts$';
const ROUTES = '[/-]routes\\.ts$';
const TEST = '\\.test\\.ts$|/fixtures/';

/** The wings of the cloud from the bottom up. A wing imports from those below it, also their types. */
const WINGS = ['ground', 'network', 'storage', 'compute', 'load-balancing', 'kubernetes', 'money'];
const wingsPointDown = WINGS.slice(0, -1).map((wing, at) => ({
  name: `${wing}-knows-nothing-above`,
  comment: `Wings point down: ${WINGS.join(', ')}. Who uses a thing is asked in SQL where the thing is.`,
  severity: 'error',
  from: { path: `^src/cloud/${wing}/`, pathNot: TEST },
  to: { path: `^src/cloud/(${WINGS.slice(at + 1).join('|')})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...wingsPointDown,
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or want a third.',
      severity: 'error',
      from: { pathNot: TEST },
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'An import that leads nowhere.',
      severity: 'error',
      from: {},
      // It only contains types, and only the package's own index file exports a path to them.
      to: { couldNotResolve: true, pathNot: '^fastify/types/' },
    },
    {
      name: 'declared-dependencies',
      comment: 'A package that package.json does not name breaks when another stops bringing it along.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-development-dependencies',
      comment: 'What runs in production is installed in production.',
      severity: 'error',
      from: { path: '^(src|cli|engines|kubernetes|openstack)/', pathNot: TEST },
      to: { dependencyTypes: ['npm-dev'], pathNot: '^node_modules/@types/' },
    },
    {
      name: 'no-test-code',
      comment: 'Nothing that ships knows of tests.',
      severity: 'error',
      from: { path: '^(src|cli|engines|kubernetes|openstack|migrations)/', pathNot: TEST },
      to: { path: '^(test|bench|scripts)/|\\.test\\.ts$|/fixtures/' },
    },
    {
      name: 'http-is-for-routes',
      comment: 'Only routes know that HTTP exists; start/ tells /readyz what to check and /metrics what to measure.',
      severity: 'error',
      from: {
        pathNot: [
          '^src/http/',
          '^src/app\\.ts$',
          ROUTES,
          '^src/start/(readiness|metrics|api)\\.ts$',
          TEST,
          '^(test|bench|scripts)/',
        ],
      },
      to: { path: '^src/http/' },
    },
    {
      name: 'http-knows-no-feature',
      comment:
        'What every request meets is the same for all features; only identity and the log of requests are part of it.',
      severity: 'error',
      from: { path: '^src/http/', pathNot: TEST },
      to: { path: '^src/(?!http/|lib/|requests/|iam/identity/service\\.ts$)' },
    },
    {
      name: 'routes-are-registered-once',
      comment: 'Routes are mounted by app.ts, or by the routes of their own wing. Those of tags are a part of others.',
      severity: 'error',
      from: { path: '^src/(cloud/[^/]+/[^/]+|[^/]+/[^/]+)/', pathNot: TEST },
      to: { path: ROUTES, pathNot: ['^src/$1/', '^src/cloud/ground/metadata/'] },
    },
    {
      name: 'nothing-but-routes-imports-routes',
      comment: 'Routes, service, store: one way.',
      severity: 'error',
      from: { path: '^src/', pathNot: [ROUTES, '^src/app\\.ts$', TEST] },
      to: { path: ROUTES },
    },
    {
      name: 'store-is-the-bottom',
      comment: 'A store knows nothing of the use cases that it serves.',
      severity: 'error',
      from: { path: `^(src/.+)/[^/]*store\\.ts$` },
      to: { path: ['^$1/service\\.ts$', '[/-](presenter|tasks|wanted)\\.ts$'] },
    },
    {
      name: 'schema-is-pure',
      comment: 'The form of requests and answers, and what makes an answer of a row: it asks nobody and does nothing.',
      severity: 'error',
      from: { path: `${FEATURE}.*[/-](schema|presenter)\\.ts$` },
      to: {
        path: '[/-](tasks|wanted)\\.ts$|^src/(db/database\\.ts$|http/|convergence/|backends/(?!contract/)|start/)|^node_modules/(pg|fastify)/',
      },
    },
    {
      name: 'features-meet-at-their-faces',
      comment:
        'Others use the service of a feature or of a part of it, what it does in their transactions, and its words; all else is its own business.',
      severity: 'error',
      from: { path: `${FEATURE}([^/]+)/`, pathNot: TEST },
      to: { path: FEATURE, pathNot: ['^src/$1/$2/', FACE] },
    },
    {
      name: 'features-do-not-know-backends',
      comment: 'A feature says what it wants in the words of the contract; the catalogue chooses who brings it about.',
      severity: 'error',
      // The kit for testers wraps backends.
      from: { path: FEATURE, pathNot: `${TEST}|^test-kit/` },
      to: { path: '^src/backends/(?!contract/)' },
    },
    {
      name: 'the-contract-is-pure',
      comment: 'Free of our database and of every transport: it is what authors of backends get.',
      severity: 'error',
      from: { path: '^src/backends/contract/', pathNot: TEST },
      to: { path: '^src/(?!backends/contract/|lib/)' },
    },
    {
      name: 'backends-serve',
      comment: 'A backend keeps the contract and knows nothing of those who want something.',
      severity: 'error',
      from: { path: '^src/backends/', pathNot: TEST },
      to: { path: '^src/(cloud|iam|streaming|convergence|http|start)/' },
    },
    {
      name: 'real-backends-serve',
      comment: 'They know the contract, and what all backends share.',
      severity: 'error',
      from: { path: '^(kubernetes|openstack)/', pathNot: TEST },
      to: {
        path: '^(src/(?!lib/|backends/(contract|certificates)/|backends/maker\\.ts$)|cli/|engines/|postgres/|simulation/)',
      },
    },
    {
      name: 'the-test-kit-asks-at-faces',
      comment: 'It uses what features show to each other, and no program that starts.',
      severity: 'error',
      from: { path: '^test-kit/', pathNot: TEST },
      to: { path: [FEATURE, '^src/(start|main)', '^cli/'], pathNot: FACE },
    },
    {
      name: 'the-simulation-serves',
      comment: 'It keeps the contract, and its things in tables of its own.',
      severity: 'error',
      from: { path: '^simulation/', pathNot: TEST },
      to: {
        path: '^(src/(?!lib/|db/|secrets/secrets\\.ts$|backends/(contract|certificates)/|backends/maker\\.ts$)|cli/|engines/|kubernetes/|openstack/|postgres/)',
      },
    },
    {
      name: 'the-embedded-postgres-serves',
      comment: 'It runs a database server, and knows nothing of what is in it.',
      severity: 'error',
      from: { path: '^postgres/', pathNot: TEST },
      to: { path: '^(src/(?!lib/)|cli/|engines/|kubernetes/|openstack/|simulation/)' },
    },
    {
      name: 'parts-have-one-door',
      comment:
        'The server knows of engines, of backends, of the embedded PostgreSQL and of the test kit what their index.ts shows.',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: TEST },
      to: {
        path: '^(engines|kubernetes|openstack|postgres|simulation|test-kit)/',
        pathNot: '^(engines|kubernetes|openstack|postgres|simulation|test-kit)/index\\.ts$',
      },
    },
    {
      name: 'engines-serve',
      comment: 'Engines see one medium and one job: no database, no use case, no settings of the server.',
      severity: 'error',
      from: { path: '^engines/', pathNot: TEST },
      to: { path: '^(src/(?!lib/)|cli/|kubernetes/|openstack/|postgres/|simulation/)' },
    },
    {
      name: 'lib-is-pure',
      comment: 'Small things that know nothing of the rest.',
      severity: 'error',
      from: { path: '^src/lib/' },
      to: { path: '^src/(?!lib/)' },
    },
    {
      name: 'db-is-below-features',
      comment: 'The types of its rows are its own: features take them from there.',
      severity: 'error',
      from: { path: '^src/db/', pathNot: TEST },
      to: { path: '^src/(?!db/|lib/)' },
    },
    {
      name: 'convergence-knows-no-feature',
      comment: 'What converges wants is the same for all kinds.',
      severity: 'error',
      from: { path: '^src/convergence/', pathNot: TEST },
      to: {
        path: '^src/(?!convergence/|worker/|secrets/|backends/(contract/|backends\\.ts$|health\\.ts$)|db/|lib/)',
      },
    },
    {
      name: 'workers-know-no-queue',
      comment: 'How work is shared out is the same for all of it.',
      severity: 'error',
      from: { path: '^src/worker/', pathNot: TEST },
      to: { path: '^src/(?!worker/|db/|lib/)' },
    },
    {
      name: 'secrets-know-no-feature',
      comment: 'They are told which column a value is for, and nothing of what it means.',
      severity: 'error',
      from: { path: '^src/secrets/', pathNot: TEST },
      to: { path: '^src/(?!secrets/|db/|lib/)' },
    },
    {
      name: 'keys-stay-in-their-room',
      comment: 'Whoever keeps a secret seals and opens it; only a start and its commands deal with keys.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(secrets|start)/', '^src/config\\.ts$', TEST] },
      to: { path: '^src/secrets/(?!secrets\\.ts$)' },
    },
    {
      name: 'pg-in-few-places',
      comment: 'Features speak kysely; only the plumbing holds connections.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(db|start)/', TEST] },
      to: { path: '^node_modules/pg/' },
    },
    {
      name: 'start-is-the-top',
      comment: 'Starting and stopping is what main.ts asks for.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/start/', '^src/main\\.ts$', TEST] },
      to: { path: '^src/start/' },
    },
    {
      name: 'the-console-stands-apart',
      comment:
        'The server serves its files, and knows nothing of what is in them. What it may import, biome.json says.',
      severity: 'error',
      from: { pathNot: '^console/' },
      to: { path: '^console/' },
    },
    {
      name: 'the-command-line-stands-apart',
      comment: 'It asks a server over HTTP, and only main.ts and the writer of its operations know it.',
      severity: 'error',
      from: {
        path: '^(src|engines|kubernetes|openstack|postgres|simulation|test-kit|migrations)/',
        pathNot: ['^src/main\\.ts$', TEST],
      },
      to: { path: '^cli/' },
    },
    {
      name: 'the-command-line-knows-only-itself',
      comment: 'A server loads none of its libraries, and it none of the server.',
      severity: 'error',
      from: { path: '^cli/', pathNot: TEST },
      to: { path: '^(src|engines|kubernetes|openstack|postgres|simulation|test-kit)/' },
    },
    {
      name: 'libraries-of-the-command-line',
      comment: 'They are loaded with a command, never with a server.',
      severity: 'error',
      from: { path: '^(src|engines|kubernetes|openstack|postgres|simulation|test-kit|migrations)/' },
      to: { path: '^node_modules/(commander|@bomb\\.sh|table|eventsource-parser)/' },
    },
    {
      name: 'wiring-is-the-top',
      comment: 'build-platform.ts and app.ts know everyone, so nobody may know them.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/start/', '^src/app\\.ts$', TEST] },
      to: { path: '^src/(build-platform|app)\\.ts$' },
    },
    {
      name: 'settings-come-from-above',
      comment: 'config.ts is read at the start and handed down in parts.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/start/', '^src/(main|log)\\.ts$', TEST] },
      to: { path: '^src/config\\.ts$' },
    },
  ],
  options: {
    // The engines and the build have manifests of their own, below the common one.
    combinedDependencies: true,
    // TypeScript 7 has no API for JavaScript.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|dist\\.new|data)/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      conditionNames: ['import', 'node', 'default', 'types'],
      exportsFields: ['exports'],
    },
  },
};
