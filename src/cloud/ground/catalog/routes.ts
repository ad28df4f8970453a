import { type Static, Type } from 'typebox';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { pageOf } from '../../../lib/page.ts';
import { listOf, listQuery, Query } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { RegionParams, regionOf, regionRoutes } from './region-routes.ts';
import { DdosAccessibility, DdosCoverage, DdosTemplateList, presentDdosTemplate } from './schema.ts';
import { type Catalog, type LoggingDestination, requireLoggingHosts } from './service.ts';

export const LoggingDestinationAnswer = Type.Object(
  {
    region_id: Type.Integer({
      description: 'Value for `destination_region_id` in the logging settings of a cluster',
    }),
    region_name: Type.String({ description: 'Display name' }),
  },
  { title: 'LoggingDestination', description: 'A region that can store logs.' },
);
export type LoggingDestinationAnswer = Static<typeof LoggingDestinationAnswer>;
export const LoggingDestinationList = listOf(LoggingDestinationAnswer, 'LoggingDestinationList');

export function presentLoggingDestination(destination: LoggingDestination): LoggingDestinationAnswer {
  return { ...destination };
}

const ListQuery = Query(listQuery());

const LoggingHosts = Type.Object(
  { hosts: Type.Array(Type.String({ description: 'host:port', examples: ['logs.example.com:9093'] })) },
  { title: 'LoggingHosts', description: 'Log brokers of a region.' },
);

/** DDoS protection and logging of regions. Any account may read them. */
export function regionServiceRoutes(app: Api, { catalog }: { catalog: Catalog }): void {
  const api = operations(app, { tags: ['DDoS protection'], params: RegionParams });

  api.get('/cloud/v1/ddos/profile-templates/:region_id', 'listDdosTemplates', 'List DDoS profile templates', {
    description: 'Returns an empty list if the region has no advanced DDoS protection.',
    query: ListQuery,
    answer: DdosTemplateList,
    handler: async ({ params, query }) => {
      const region = regionOf(catalog, params.region_id);
      return pageOf(catalog.ddosTemplates(region.id), query, presentDdosTemplate);
    },
  });

  api.get(
    '/cloud/v1/ddos/accessibility/:region_id',
    'getDdosAccessibility',
    'Find out whether DDoS protection can be used in a region',
    {
      answer: DdosAccessibility,
      handler: async ({ params }) => {
        const { has_ddos: has, display_name: name } = regionOf(catalog, params.region_id);
        return {
          is_accessible: has,
          http_code: has ? 200 : 404,
          message: `Advanced DDoS protection is ${has ? '' : 'not '}accessible in region ${name}.`,
        };
      },
    },
  );

  api.get(
    '/cloud/v1/ddos/region_coverage/:region_id',
    'getDdosCoverage',
    'Find out whether a region has DDoS protection',
    {
      answer: DdosCoverage,
      handler: async ({ params }) => ({ is_covered: regionOf(catalog, params.region_id).has_ddos }),
    },
  );

  api.get(
    '/cloud/v1/laas/:region_id/destination_regions',
    'listLoggingDestinations',
    'List the regions that can store logs',
    {
      tags: ['Logging'],
      description: "Returns 400 if the region doesn't offer logging.",
      query: ListQuery,
      answer: LoggingDestinationList,
      handler: async ({ params, query }) => {
        const region = regionOf(catalog, params.region_id);
        requireLoggingHosts(catalog, region);
        return pageOf(catalog.loggingDestinations(region.id), query, presentLoggingDestination);
      },
    },
  );

  api.get('/cloud/v1/laas/:region_id/hosts', 'listLoggingHosts', 'List the log brokers of a region', {
    tags: ['Logging'],
    description: "Returns 400 if the region doesn't offer logging.",
    answer: LoggingHosts,
    handler: async ({ params }) => ({
      hosts: [...requireLoggingHosts(catalog, regionOf(catalog, params.region_id))],
    }),
  });
}

/** What the library under the older Terraform provider asks instead of `hosts`. */
export function olderLoggingHostRoutes(app: Api, { catalog }: { catalog: Catalog }): void {
  const LoggingServers = Type.Object(
    { hosts: Type.Array(Type.String({ description: 'host:port' })) },
    { title: 'LoggingServers', description: 'Servers of the logging of a region.' },
  );

  const api = operations(app, { tags: ['Logging'], params: RegionParams, deprecated: true });

  api.get(
    '/cloud/v1/laas/:region_id/kafka_hosts',
    'listKafkaHosts',
    'List the log brokers of a region by their older name',
    {
      description: "Returns 400 if the region doesn't offer logging.",
      answer: LoggingServers,
      handler: async ({ params }) => ({
        hosts: [...requireLoggingHosts(catalog, regionOf(catalog, params.region_id))],
      }),
    },
  );

  api.get(
    '/cloud/v1/laas/:region_id/opensearch_hosts',
    'listOpensearchHosts',
    'List the servers of a region that search its logs',
    {
      description: "Returns 400 if the region doesn't offer logging.",
      answer: LoggingServers,
      handler: async ({ params }) => {
        const region = regionOf(catalog, params.region_id);
        requireLoggingHosts(catalog, region);
        return { hosts: [...catalog.searchHosts(region.id)] };
      },
    },
  );
}

/** Routes that only read the catalogue. Features are not among them, because they belong to the account area. */
export function catalogRoutes(app: Api, on: Pick<Platform, 'catalog' | 'maintenances'>): void {
  regionRoutes(app, on);
  regionServiceRoutes(app, on);
}
