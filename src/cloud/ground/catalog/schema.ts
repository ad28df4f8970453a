import { type Static, type TProperties, Type } from 'typebox';
import { BACKEND_FAMILIES, type BackendFamily } from '../../../backends/contract/needs.ts';
import { ALL_RESOURCES, type RegionalQuota } from '../../../lib/resources.ts';
import { VOLUME_TYPES } from '../../../lib/volume-types.ts';
import * as wire from '../../../lib/wire.ts';

/**
 * Shapes of the files in `catalog/`. Keys that clients see have the same name in answers, so that the answer schemas
 * beside this file can use the same field lists. `rule` is the sentence that reports a violated pattern.
 */

/** Refuses unknown keys in every object: wrong names are the commonest fault in files that are edited by hand. */
function entry<T extends TProperties>(fields: T) {
  return wire.Closed(fields);
}

const id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const text = Type.String({ minLength: 1, maxLength: 255 });
const uuid = Type.String({
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  rule: 'Use a UUID in lower case.',
});
const slug = {
  pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
  rule: 'Use 1 to 63 lower-case letters, digits and hyphens; start and end with a letter or digit.',
};
const timestamp = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\+0000$',
  rule: 'Use a UTC time such as 2025-03-04T09:00:00+0000.',
  examples: ['2025-03-04T09:00:00+0000'],
});
const inRegions = Type.Array(id, { minItems: 1, uniqueItems: true, description: 'Regions that offer it' });

export const VolumeTypeName = wire.Choice(VOLUME_TYPES);
export type VolumeTypeName = Static<typeof VolumeTypeName>;

export const CurrencyCode = wire.Choice(['AZN', 'EUR', 'USD']);
export type CurrencyCode = Static<typeof CurrencyCode>;

export const regionFields = {
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Region ID' }),
  display_name: Type.String({ minLength: 1, maxLength: 255, description: 'Display name' }),
  keystone_name: Type.String({ minLength: 1, maxLength: 255, description: 'Technical name of the region' }),
  keystone_id: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'ID of the identity service',
  }),
  slug: Type.String({ ...slug, description: 'Short name for use in URLs' }),
  state: wire.Choice(
    ['ACTIVE', 'DELETED', 'DELETING', 'DELETION_FAILED', 'INACTIVE', 'MAINTENANCE', 'NEW'],
    'Region state',
  ),
  access_level: wire.Choice(['core', 'edge'], 'Type of location'),
  endpoint_type: wire.Choice(['admin', 'internal', 'public'], 'Current endpoint'),
  country: Type.String({
    pattern: '^[A-Z]{2}$',
    rule: 'Use two capital letters.',
    description: 'Country code of two letters (ISO 3166-1)',
  }),
  zone: wire.nullable(wire.Choice(['AMERICAS', 'APAC', 'EMEA', 'RUSSIA_AND_CIS'])),
  coordinates: wire.nullable(
    Type.Object(
      { latitude: text, longitude: text },
      { additionalProperties: false, description: 'Decimal degrees, as a string' },
    ),
  ),
  available_volume_types: wire.nullable(Type.Array(VolumeTypeName, { uniqueItems: true })),
  file_share_types: wire.nullable(Type.Array(wire.Choice(['standard', 'vast']), { uniqueItems: true })),
  external_network_id: wire.nullable(uuid),
  metrics_database_id: wire.nullable(Type.Integer()),
  ddos_endpoint_id: wire.nullable(Type.Integer()),
  vlan_physical_network: text,
  has_ai: Type.Boolean({ description: 'AI clusters' }),
  has_ai_gpu: Type.Boolean({ description: 'GPU machines' }),
  has_baremetal: Type.Boolean({ description: 'Bare metal machines' }),
  has_basic_vm: Type.Boolean({ description: 'Basic virtual machines' }),
  has_dbaas: Type.Boolean({ description: 'Managed databases' }),
  has_ddos: Type.Boolean({ description: 'Advanced DDoS protection' }),
  has_k8s: Type.Boolean({ description: 'Managed Kubernetes' }),
  has_kvm: Type.Boolean({ description: 'Virtual machines' }),
  has_sfs: Type.Boolean({ description: 'File shares' }),
  created_at: timestamp,
};

const quota = (most: number) => Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: most });

const LIMITS = ALL_RESOURCES.flatMap(([, { quota: one }]) => (one ? [[one.name, quota(one.standard)] as const] : []));

/** Named as published. */
export const QuotaLimits = Type.Object(Object.fromEntries(LIMITS) as Record<RegionalQuota, ReturnType<typeof quota>>, {
  additionalProperties: false,
  default: {},
  description: 'Quotas of one account in the region',
});
export type QuotaLimits = Static<typeof QuotaLimits>;

function perFamily<Schema>(schema: Schema): Record<BackendFamily, Schema> {
  return Object.fromEntries(BACKEND_FAMILIES.map((family) => [family, schema])) as Record<BackendFamily, Schema>;
}

export const BackendEntry = entry({
  name: Type.String(slug),
  kind: Type.String({ description: 'Type of backend' }),
  settings: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    description: 'Settings for this type of backend',
  }),
  secrets: Type.Record(
    Type.String(),
    Type.String({ pattern: '^/', rule: 'Use the absolute path of the file that contains the secret.' }),
    { default: {}, description: 'Paths of secret files by name' },
  ),
});

const address = Type.String({ minLength: 2, maxLength: 45 });

export const PrefixEntry = entry({
  cidr: Type.String({ minLength: 4, maxLength: 49, description: 'A range of public addresses' }),
  gateway: Type.Optional(wire.nullable(address)),
  first: Type.Optional(address),
  last: Type.Optional(address),
});
export type PrefixEntry = Static<typeof PrefixEntry>;

const ExternalNetworkEntry = entry({
  id: uuid,
  name: text,
  prefixes: Type.Array(PrefixEntry, { minItems: 1 }),
});

export const RegionEntry = entry({
  ...regionFields,
  external_networks: Type.Array(ExternalNetworkEntry, {
    default: [],
    description: 'The networks that lead outside, and the addresses that are given out there',
  }),
  backend: wire.OptionalText({
    ...slug,
    description: 'Backend of the region, except for what `backends` overrides',
  }),
  backends: Type.Optional(
    Type.Partial(entry(perFamily(Type.String({ ...slug, description: 'Backend for this kind of resource' }))), {
      additionalProperties: false,
    }),
  ),
  products: Type.Array(wire.Choice(['containers', 'inference']), {
    uniqueItems: true,
    default: [],
    description: 'Products for the `product` filter of the region list',
  }),
  quotas: QuotaLimits,
});
export type Region = Static<typeof RegionEntry>;

const hardwareDescription = Type.Record(Type.String(), Type.String(), {
  default: {},
  description: 'Hardware specification, for display',
});

const machineFields = {
  architecture: wire.Choice(['aarch64', 'x86_64'], { default: 'x86_64', description: 'CPU architecture' }),
  os_type: wire.Choice(['linux', 'windows'], { default: 'linux', description: 'Operating system family' }),
};

/** Fields that both flavor lists show. */
export const flavorFields = {
  flavor_id: Type.String({ ...slug, description: 'Flavor ID' }),
  vcpus: Type.Integer({ minimum: 1, maximum: 4096, description: 'Virtual CPUs' }),
  ram: Type.Integer({ minimum: 256, maximum: 67_108_864, description: 'Memory in MiB' }),
  ...machineFields,
  disabled: Type.Boolean({ default: false, description: 'Not available for new instances' }),
  hardware_description: hardwareDescription,
};

export const FlavorEntry = entry({
  ...flavorFields,
  resource_class: wire.TextOrNull({
    minLength: 1,
    maxLength: 255,
    default: null,
    description: 'Hardware type; required for bare metal and GPU flavors',
  }),
  regions: inRegions,
  offered_for: Type.Array(wire.Choice(['instances', 'kubernetes', 'load_balancers']), {
    minItems: 1,
    uniqueItems: true,
  }),
});
export type Flavor = Static<typeof FlavorEntry>;

export const imageFields = {
  id: uuid,
  name: Type.String({
    pattern: wire.NAME_PATTERN,
    rule: 'Use 3 to 63 letters, digits, spaces, dots, underscores and hyphens; start with a letter or digit.',
    description: 'Image name',
  }),
  description: Type.String({ default: '', maxLength: 255 }),
  ...machineFields,
  os_distro: Type.String({ minLength: 1, maxLength: 255, description: 'Distribution, such as `debian`' }),
  os_version: Type.String({ minLength: 1, maxLength: 255, description: 'Version of the distribution' }),
  disk_format: Type.String({ default: 'qcow2', minLength: 1, maxLength: 32 }),
  min_disk: Type.Integer({ minimum: 0, description: 'Minimum size of the boot volume in GiB' }),
  min_ram: Type.Integer({ minimum: 0, description: 'Minimum memory in MiB' }),
  size: wire.IntegerOrNull({ minimum: 0, description: 'Size in bytes' }),
  is_baremetal: Type.Boolean({ default: false, description: 'Image for bare metal machines' }),
  ssh_key: wire.Choice(['allow', 'deny', 'required'], {
    default: 'allow',
    description: 'Whether an SSH key is allowed, denied or required',
  }),
  hw_firmware_type: wire.Choice(['bios', 'uefi'], { default: 'bios' }),
  hw_machine_type: wire.Choice(['i440', 'q35'], { default: 'q35' }),
  gpu_driver: wire.TextOrNull({ minLength: 1, maxLength: 255, default: null, description: 'GPU driver vendor' }),
  gpu_driver_type: wire.TextOrNull({ minLength: 1, maxLength: 255, default: null }),
  gpu_driver_version: wire.TextOrNull({ minLength: 1, maxLength: 255, default: null }),
  display_order: Type.Integer({ default: 0, description: 'Position in lists, smallest first' }),
  created_at: timestamp,
};

export const ImageEntry = entry({ ...imageFields, regions: inRegions });
export type Image = Static<typeof ImageEntry>;

export const KubernetesVersionText = Type.String({
  pattern: '^v1\\.\\d{1,3}\\.\\d{1,3}$',
  rule: 'Use a version such as v1.32.13.',
  description: 'With the leading `v`',
  examples: ['v1.32.13'],
});

export const ddosFieldFields = {
  id: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Value for `base_field` in a profile',
  }),
  name: Type.String({ minLength: 1, maxLength: 30 }),
  description: wire.TextOrNull({ maxLength: 255 }),
  field_type: wire.nullable(text),
  required: wire.nullable(Type.Boolean()),
  default: wire.TextOrNull({ maxLength: 100 }),
  validation_schema: Type.Unknown({ description: 'JSON Schema of the value' }),
};

export const ddosTemplateFields = {
  id: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Value for `profile_template` in a profile',
  }),
  name: Type.String({ minLength: 1, maxLength: 100 }),
  description: wire.TextOrNull({ maxLength: 255 }),
};

export const DdosTemplateEntry = entry({
  ...ddosTemplateFields,
  regions: inRegions,
  fields: Type.Array(
    entry({
      ...ddosFieldFields,
      validation_schema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema, draft 7' }),
    }),
  ),
});
export type DdosTemplate = Static<typeof DdosTemplateEntry>;

const host = Type.String({ pattern: '^[^\\s:]+:\\d{1,5}$', rule: 'Use host:port.' });

export const LoggingServiceEntry = entry({
  region_id: id,
  hosts: Type.Array(host, { minItems: 1 }),
  opensearch_hosts: wire.OptionalList(host),
  destination_regions: Type.Array(id, { minItems: 1, uniqueItems: true }),
});
export type LoggingService = Static<typeof LoggingServiceEntry>;

export const featureFields = {
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Feature ID' }),
  name: Type.String({ minLength: 1, maxLength: 255, description: 'Feature name' }),
  service: wire.Choice(['CDN', 'STORAGE', 'STREAMING', 'DNS', 'DDOS', 'CLOUD'], 'Product that the feature belongs to'),
  is_free: Type.Boolean({ description: 'Whether the feature is free' }),
};
export const FeatureEntry = entry({
  ...featureFields,
  // Without it, the feature opens nothing.
  needed_for: wire.OptionalChoice(
    ['transcription', 'content-moderation'],
    'What a client may do only with this feature activated',
  ),
});
export type Feature = Static<typeof FeatureEntry>;

const unitPrice = Type.String({
  pattern: '^\\d{1,9}(\\.\\d{1,12})?$',
  rule: "Use a decimal number in quotes, such as '0.000125'.",
});

export const PricesEntry = entry({
  region_id: id,
  currency: CurrencyCode,
  volume_types: Type.Partial(
    entry({
      cold: unitPrice,
      ssd_hiiops: unitPrice,
      ssd_local: unitPrice,
      ssd_lowlatency: unitPrice,
      standard: unitPrice,
      ultra: unitPrice,
    }),
    { additionalProperties: false, description: 'Price of one GiB for one hour' },
  ),
  file_share_types: Type.Partial(entry({ standard: unitPrice, vast: unitPrice }), {
    additionalProperties: false,
    default: {},
    description: 'Price of one GiB for one hour',
  }),
  image_storage: Type.Optional(unitPrice),
  log_storage: Type.Optional(unitPrice),
  public_ipv4: Type.Optional(unitPrice),
  ddos_protection: Type.Optional(unitPrice),
  egress_traffic: Type.Optional(
    Type.Partial(entry({ virtual: unitPrice, baremetal: unitPrice }), {
      additionalProperties: false,
      description:
        'Price of one GB that instances or bare metal servers send out of the region. Without it, traffic is not metered',
    }),
  ),
  flavors: Type.Record(Type.String(), unitPrice, {
    default: {},
    description: 'Price of a machine for one hour',
  }),
  images: Type.Partial(entry({ linux: unitPrice, windows: unitPrice }), {
    additionalProperties: false,
    default: {},
    description: 'Price of an operating system for one hour',
  }),
});

export const PriceTermsEntry = entry({
  currency: CurrencyCode,
  tax_percent: Type.String({
    pattern: '^\\d{1,2}(\\.\\d{1,4})?$',
    rule: "Use a percentage from 0 to below 100 in quotes, such as '17'.",
  }),
  discount: Type.String({
    pattern: '^(0(\\.\\d{1,6})?|1(\\.0{1,6})?)$',
    rule: "Use a fraction from 0 to 1 in quotes, such as '0.16' for 16 percent.",
  }),
  visibility: wire.Choice(['show', 'hide']),
  trial: wire.OptionalFlag({ description: 'Lists of flavors and images show prices of 0' }),
});

const ClientTermsEntry = wire.Closed({ client_id: id, ...Type.Partial(PriceTermsEntry).properties });

/** The file names of the catalogue, and the shape of each file. */
export const catalogFiles = {
  'backends.yaml': entry({ backends: Type.Array(BackendEntry, { minItems: 1 }) }),
  'regions.yaml': entry({ regions: Type.Array(RegionEntry, { minItems: 1 }) }),
  'flavors.yaml': entry({ flavors: Type.Array(FlavorEntry) }),
  'images.yaml': entry({ images: Type.Array(ImageEntry) }),
  'kubernetes-versions.yaml': entry({ versions: Type.Array(KubernetesVersionText, { uniqueItems: true }) }),
  'price-book.yaml': entry({
    prices: Type.Array(PricesEntry),
    default_terms: PriceTermsEntry,
    clients: Type.Array(ClientTermsEntry),
  }),
  'ddos-templates.yaml': entry({ templates: Type.Array(DdosTemplateEntry) }),
  'logging-destinations.yaml': entry({ services: Type.Array(LoggingServiceEntry) }),
  'features.yaml': entry({ features: Type.Array(FeatureEntry) }),
};

export type CatalogFileName = keyof typeof catalogFiles;
/** The parsed content of every file, by its name. */
export type CatalogContent = { [Name in CatalogFileName]: Static<(typeof catalogFiles)[Name]> };

const DdosTemplateField = Type.Object(ddosFieldFields, {
  title: 'DdosTemplateField',
  description: 'A field that a profile based on the template can set.',
});

export const DdosTemplateAnswer = Type.Object(
  { ...ddosTemplateFields, fields: Type.Array(DdosTemplateField) },
  { title: 'DdosTemplate', description: 'A template for DDoS protection profiles.' },
);
export type DdosTemplateAnswer = Static<typeof DdosTemplateAnswer>;
export const DdosTemplateList = wire.listOf(DdosTemplateAnswer, 'DdosTemplateList');

export function presentDdosTemplate(template: DdosTemplate): DdosTemplateAnswer {
  const { regions: _, ...shown } = template;
  return shown;
}

export const DdosAccessibility = wire.Named('DdosAccessibility', {
  is_accessible: Type.Boolean({ description: 'Whether the region has advanced DDoS protection' }),
  http_code: Type.Integer({ description: 'The answer as a status: 200, or 404 if there is none' }),
  message: Type.String({ description: 'The same in words' }),
});
export const DdosCoverage = wire.Named('DdosCoverage', {
  is_covered: Type.Boolean({ description: 'Whether the region has advanced DDoS protection' }),
});

export const FeatureAnswer = Type.Object(featureFields, {
  title: 'Feature',
  description: 'A feature that a reseller can activate for a client.',
});
export type FeatureAnswer = Static<typeof FeatureAnswer>;
/** The account area answers a bare array here. */
export const FeatureArray = Type.Array(FeatureAnswer);

export function presentFeature(feature: Feature): FeatureAnswer {
  const { needed_for: _, ...shown } = feature;
  return shown;
}

export const KubernetesVersion = wire.Named('KubernetesVersion', { version: KubernetesVersionText });
export type KubernetesVersion = Static<typeof KubernetesVersion>;
export const KubernetesVersionList = wire.listOf(KubernetesVersion, 'KubernetesVersionList');

export function presentKubernetesVersion(version: string): KubernetesVersion {
  return { version };
}

/** Price fields of flavors and images. */
export const priceFields = {
  currency_code: wire.nullable(CurrencyCode),
  price_per_hour: wire.nullable(
    Type.Number({ description: 'Price after discount, including tax; null unless price_status is `show`' }),
  ),
  price_per_month: wire.nullable(Type.Number({ description: 'Price of a month of 720 hours' })),
  price_status: wire.nullable(wire.Choice(['error', 'hide', 'show'], 'What to display as the price')),
};

export const NO_PRICE_ASKED = {
  currency_code: null,
  price_per_hour: null,
  price_per_month: null,
  price_status: null,
};

export interface OfferPrice {
  currency_code: CurrencyCode | null;
  price_per_hour: number | null;
  price_per_month: number | null;
  price_status: 'error' | 'hide' | 'show' | null;
}
