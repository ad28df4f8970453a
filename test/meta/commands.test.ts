import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationOf } from '../../cli/api/operations.ts';
import { scopeName } from '../../cli/api/values.ts';
import { apiCommands, clientCommands } from '../../cli/commands.ts';
import { commandNames, leftOut } from '../../scripts/cli-names.ts';
import { COMMANDS_FILE, commandsPage } from '../../scripts/commands-page.ts';
import { openApiDocuments } from '../../scripts/openapi-documents.ts';
import { tradewind } from '../support/cli.ts';
import { documentedOperations, exampleBody } from '../support/openapi.ts';

const [file] = await openApiDocuments();
if (!file) expect.fail('There is no document');
const { document } = file;
const operations = (await documentedOperations()).filter(({ prefix }) => prefix === '');
const commands = clientCommands();

it('every operation has one command, or a reason for none', () => {
  const names = commandNames(document);
  const without = [...leftOut(operations.map(({ operation }) => operation)).values()].flat();
  const ids = operations.map(({ operation }) => operation.operationId);
  expect([...names.keys(), ...without].sort()).toEqual(ids.sort());
  const clashes = [...names].filter(([id, name]) => [...names].some(([other, same]) => other !== id && same === name));
  expect(clashes, 'give one of them a name in scripts/cli-names.ts').toEqual([]);
  const called = apiCommands().map(({ operation }) => operation as string);
  // Commands that do more call the first two; the third has one for each of its actions.
  const elsewhere = ['listEvents', 'listQuotas', 'actOnInstance'];
  expect([...names.keys()].filter((id) => !called.includes(id) && !elsewhere.includes(id))).toEqual([]);
});

it('no command has the name of another, or of a group', () => {
  const names = commands.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(names.filter((name) => names.some((other) => other.startsWith(`${name} `)))).toEqual([]);
  for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9-]*( [a-z][a-z0-9-]*){0,3}$/);
});

it('no option of a command has the name of another', () => {
  for (const command of commands) {
    const options = command.options.map(({ name }) => name);
    const names = [...options, ...command.arguments.map(({ name }) => name)];
    expect(
      names.filter((name, at) => names.indexOf(name) !== at),
      command.name,
    ).toEqual([]);
    const always = ['help', 'json', 'url', 'token', 'token-file'];
    expect(
      options.filter((name) => always.includes(name)),
      command.name,
    ).toEqual([]);
  }
});

it('the page of all commands is up to date; "npm run openapi" writes it', () => {
  expect(fs.readFileSync(COMMANDS_FILE, 'utf8')).toBe(commandsPage(document));
});

describe('every command', () => {
  const asked: string[] = [];
  const bodies: string[] = [];
  const server = http.createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url?.replace(/\?.*/, '')}`);
    let text = '';
    for await (const part of request) text += part;
    bodies.push(text);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => server.close());

  it.each(apiCommands())('$name calls $operation, with a body from a file', async ({ name, operation: id, fixed }) => {
    const { method, path, parameters, query, body } = operationOf(id);
    const found = operations.find(({ operation }) => operation.operationId === id) ?? expect.fail(id);
    const command = commands.find((one) => one.name === name) ?? expect.fail(name);
    const places = command.arguments.map(() => '7');
    const scopes = parameters
      .filter((one) => !command.arguments.some((place) => place.name === scopeName(one.name)))
      .flatMap((one) => [`--${scopeName(one.name)}`, '7']);
    const needed = query
      .filter(({ required }) => required)
      .map((one) => `--${one.option ?? one.name.replaceAll('_', '-')} ${one.values?.[0] ?? '1'}`);
    const yes = method === 'DELETE' ? '--yes' : '';
    const given = body ? '--file -' : '';
    const sent = exampleBody(found);
    asked.length = 0;
    bodies.length = 0;
    const { code, err } = await tradewind([name, ...places, ...scopes, ...needed, given, yes, '--json'].join(' '), {
      environment: {
        TRADEWIND_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        TRADEWIND_TOKEN: '1$secret',
      },
      input: JSON.stringify(sent ?? {}),
    });
    expect(code, err).toBe(0);
    expect(asked).toEqual([`${method} ${path.replace(/\{\w+\}/g, '7')}`]);
    if (body)
      expect(JSON.parse(bodies[0] ?? '')).toEqual(Array.isArray(sent) ? sent : { ...(sent as object), ...fixed });
  });
});
