import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { FlavorAnswer, KubernetesFlavorAnswer, presentFlavor, presentKubernetesFlavor } from './flavor-schema.ts';
import { presentRegion, RegionAnswer } from './regions.ts';
import { LoggingDestinationAnswer, presentLoggingDestination } from './routes.ts';
import {
  DdosTemplateAnswer,
  FeatureAnswer,
  KubernetesVersion,
  presentDdosTemplate,
  presentFeature,
  presentKubernetesVersion,
} from './schema.ts';
import { loadCatalog } from './service.ts';

const catalog = await loadCatalog('catalog');
const regions = [...catalog.regions.values()];
const PRICE = {
  currency_code: 'EUR',
  price_per_hour: 0.5,
  price_per_month: 360,
  price_status: 'show',
} as const;
const ajv = new Ajv({ allErrors: true, strict: false });
addFormats.default(ajv);

/** Checks that every value fits the schema and has no other fields, so nothing is lost when the answer is written. */
function expectAll(schema: TSchema & { properties: object }, values: object[]): void {
  expect(values.length).toBeGreaterThan(0);
  const validate = ajv.compile(schema);
  for (const value of values) {
    expect(validate(value) ? [] : validate.errors).toEqual([]);
    for (const key of Object.keys(value)) expect(schema.properties).toHaveProperty(key);
  }
}

test('regions, with their volume types only when asked for', () => {
  const shown = regions.map((region) => presentRegion(region, { showVolumeTypes: true, inMaintenance: false }));
  const plain = regions.map((region) => presentRegion(region, { showVolumeTypes: false, inMaintenance: false }));
  expectAll(RegionAnswer, [...shown, ...plain]);
  expect(shown[0]).toMatchObject({
    available_volume_types: expect.arrayContaining(['standard']),
    task_id: null,
  });
  expect(plain[0]).toMatchObject({ available_volume_types: null, created_on: '2025-03-04T09:00:00' });
});

test('flavors of instances, with a price status only when prices are asked for', () => {
  const flavors = catalog.flavors(1);
  const plain = flavors.map((flavor) => presentFlavor(flavor, undefined));
  const priced = flavors.map((flavor) => presentFlavor(flavor, PRICE));
  expectAll(FlavorAnswer, [...plain, ...priced]);
  expect(plain[0]).not.toHaveProperty('price_status');
  expect(priced[0]).toMatchObject(PRICE);
});

test('flavors of Kubernetes pools always have the price fields', () => {
  const flavors = catalog.flavors(1);
  const plain = flavors.map((flavor) => presentKubernetesFlavor(flavor, undefined));
  const priced = flavors.map((flavor) => presentKubernetesFlavor(flavor, PRICE));
  expectAll(KubernetesFlavorAnswer, [...plain, ...priced]);
  expect(plain[0]).toMatchObject({
    flavor_name: plain[0]?.flavor_id,
    hardware_description: { vcpus: `${plain[0]?.vcpus}`, ram: expect.stringMatching(/^\d+ GiB$/) },
    price_status: null,
  });
  expect(priced[0]).toMatchObject(PRICE);
});

test('versions, DDoS templates, logging destinations and features', () => {
  expectAll(KubernetesVersion, catalog.kubernetesVersions.map(presentKubernetesVersion));
  expectAll(DdosTemplateAnswer, catalog.ddosTemplates(1).map(presentDdosTemplate));
  expectAll(LoggingDestinationAnswer, catalog.loggingDestinations(1).map(presentLoggingDestination));
  expectAll(FeatureAnswer, [...catalog.features.values()].map(presentFeature));
});
