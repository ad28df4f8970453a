import { Type } from 'typebox';
import { InvalidError } from '../../lib/errors.ts';
import type { Catalog, Region } from './catalog.ts';

export const LoggingHosts = Type.Object(
  { hosts: Type.Array(Type.String({ description: 'host:port', examples: ['logs.example.com:9093'] })) },
  { title: 'LoggingHosts', description: 'The log brokers of a region.' },
);

/** @throws InvalidError where the region has no logging */
export function requireLoggingHosts(catalog: Catalog, region: Region): readonly string[] {
  const hosts = catalog.loggingHosts(region.id);
  if (hosts) return hosts;
  const message = `Region ${region.display_name} has no logging; choose another region.`;
  throw new InvalidError([{ field: 'region_id', message }]);
}
