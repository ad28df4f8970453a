import fs from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { cliOperations } from '../../scripts/cli-operations.ts';
import { openApiDocuments } from '../../scripts/openapi-documents.ts';
import { documentedOperations, exampleBody } from '../support/openapi.ts';
import { examplesAt, nodesOf } from '../support/openapi-examples.ts';

const files = await openApiDocuments();
const operations = await documentedOperations();

describe.each(files)('$file', ({ file, document, text }) => {
  it('is what the routes say; "npm run openapi" writes it', async () => {
    expect(await fs.readFile(file, 'utf8')).toBe(text);
  });

  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(text));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  it('declares every tag that operations use, once, and no other', () => {
    const used = new Set(Object.values(document.paths).flatMap((path) => Object.values(path).flatMap((op) => op.tags)));
    expect((document.tags ?? []).map((tag) => tag.name).sort()).toEqual([...used].sort());
  });

  it('holds nothing that is no keyword of OpenAPI', () => {
    expect(text).not.toContain('"~');
    const strangers = [...nodesOf(document)].filter(({ node }) => typeof node.rule === 'string');
    expect(strangers.map(({ pointer }) => pointer)).toEqual([]);
  });

  it('has no reference that leads nowhere', () => {
    const names = new Set(
      Object.entries(document.components).flatMap(([kind, parts]) =>
        Object.keys(parts as object).map((name) => `#/components/${kind}/${name}`),
      ),
    );
    const references = [...text.matchAll(/"\$ref": "([^"]+)"/g)].map(([, reference]) => String(reference));
    expect(references.filter((reference) => !names.has(reference))).toEqual([]);
  });

  it('shows examples that its own schemas accept', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, discriminator: true });
    addFormats.default(ajv);
    ajv.addSchema(document, 'document');
    const shown = [...nodesOf(document)].flatMap(examplesAt);
    expect(shown.length).toBeGreaterThan(100);
    // Compiling takes longer than checking, and several examples may have one schema.
    const checks = new Map<string, ValidateFunction>();
    const wrong = shown.flatMap(({ pointer, example }) => {
      const check = checks.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
      checks.set(pointer, check);
      return check(example) ? [] : [{ pointer, example, errors: ajv.errorsText(check.errors) }];
    });
    expect(wrong).toEqual([]);
  });
});

/** The classes of errors in the area of the cloud, by status. */
const CLASSES: Record<string, string[]> = {
  400: ['ValidationError'],
  401: ['not_authenticated', 'token_not_valid'],
  403: ['ForbiddenError', 'QuotaLimitExceed'],
  404: ['NotFoundError'],
  409: ['ConflictError'],
  412: ['PreconditionFailedError'],
  413: ['HTTPError'],
  415: ['HTTPError'],
  422: ['UnprocessableError'],
  429: ['TooManyRequestsError'],
  500: ['HTTPError'],
};

it.each(files)('shows examples that fit the status of each error in $file', ({ document }) => {
  const refusals = Object.entries(document.components.responses ?? {});
  expect(refusals.length).toBeGreaterThan(40);
  const words = new Map<string, string>();
  for (const [name, response] of refusals) {
    const status = name.slice(-3);
    const [media] = Object.values((response as { content: Record<string, object> }).content);
    const examples = Object.values((media as { examples?: Record<string, { value: object }> }).examples ?? {});
    expect(examples.length, name).toBeGreaterThan(0);
    for (const { value } of examples) {
      const { exception_class: kind, code, status: said, request_id: _, ...rest } = value as Record<string, unknown>;
      if (kind !== undefined) expect(CLASSES[status], name).toContain(kind);
      for (const number of [code, said]) if (typeof number === 'number') expect(String(number), name).toBe(status);
      const text = JSON.stringify(rest);
      expect(words.get(text) ?? status, text).toBe(status);
      words.set(text, status);
    }
  }
});

it('shows all six groups of settings in the example of a cluster update', () => {
  const updates = operations.filter(({ operation }) => operation.operationId.startsWith('updateKubernetesCluster'));
  expect(updates.length).toBe(4);
  const groups = ['add_ons', 'authentication', 'autoscaler_config', 'cni', 'ddos_profile', 'logging'];
  for (const update of updates) expect(Object.keys(exampleBody(update) as object).sort()).toEqual(groups);
});

it('is what the command line knows of its operations; "npm run openapi" writes it', async () => {
  const [specification] = files;
  if (!specification) expect.fail('There is no document');
  for (const { file, text } of cliOperations(specification.document))
    expect(await fs.readFile(file, 'utf8')).toBe(text);
});

it('gives every operation an id of its own, a summary, one tag and security', () => {
  const faults = operations.flatMap(({ title, operation }) => {
    const { operationId, summary, tags } = operation;
    return /^[a-z][A-Za-z0-9]+$/.test(operationId ?? '') && summary && tags?.length === 1 ? [] : [title];
  });
  expect(faults).toEqual([]);
  for (const { document } of files) {
    const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((op) => op.operationId));
    expect(ids.length).toBe(new Set(ids).size);
    expect(document).toMatchObject({ security: [{ apikey: [] }, { bearer: [] }] });
  }
});

it('documents the same operations under both base addresses, but deprecated ones for older clients', () => {
  const [specification = [], client = []] = files.map(({ document }) =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { deprecated }]) => ({ call: `${method} ${path}`, deprecated })),
    ),
  );
  const known = new Set(specification.map(({ call }) => call));
  const more = client.filter(({ call }) => !known.has(call));
  expect(more.filter(({ deprecated }) => !deprecated)).toEqual([]);
  expect(client.length - more.length).toBe(specification.length);
});

it('gives every operation one answer of success and the refusals that every one has', () => {
  const faults = operations.flatMap(({ title, operation }) => {
    const statuses = Object.keys(operation.responses);
    const complete = ['400', '401', '403', '500'].every((status) => statuses.includes(status));
    return complete && statuses.filter((status) => status.startsWith('2')).length === 1 ? [] : [title];
  });
  expect(faults).toEqual([]);
});

it('shows a whole body for every operation that takes one', () => {
  const taking = operations.filter(({ operation }) => operation.requestBody);
  expect(taking.filter((of) => exampleBody(of) === undefined).map(({ title }) => title)).toEqual([]);
});
