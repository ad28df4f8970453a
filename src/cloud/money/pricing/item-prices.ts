import type { Database } from '../../../db/database.ts';
import { canonicalAddress } from '../../../lib/cidr.ts';
import { InvalidError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import type { Platform } from '../../../platform.ts';
import { priced } from '../../ground/catalog/service.ts';
import { HOURS_PER_MONTH, timesHour, type VolumePrice, volumePrice } from '../../ground/prices/formula.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { familiesOf } from '../../network/addresses/schema.ts';
import type { CreateReservedFixedIp } from '../../network/reserved-fixed-ips/schema.ts';
import type {
  DdosPrice,
  FileSharePriceRequest,
  FloatingIpPriceRequest,
  ImagePriceRequest,
} from './item-schema.ts';
import { publicAddressesOfPort, subnetToReserve } from './store.ts';

/** The account that pays. */
interface Payer {
  clientId: number;
}

const DAY_MS = 86_400_000;

async function priceOf(
  on: Platform,
  { clientId }: Payer,
  regionId: number,
  item: string,
  amount: number,
): Promise<VolumePrice> {
  const { terms, hourPrice } = await on.rates.of(clientId);
  return volumePrice(terms, amount === 0 ? '0' : hourPrice(regionId, item), amount);
}

const addresses = (on: Platform, scope: Scope, amount: number) =>
  priceOf(on, scope, scope.regionId, priced.publicAddress, amount);

/** A type that the region doesn't offer has the status `error`. */
export const priceOfFileShare = (
  on: Platform,
  scope: Scope,
  { size, type_name = 'standard' }: FileSharePriceRequest,
): Promise<VolumePrice> => priceOf(on, scope, scope.regionId, priced.fileShare(type_name), size);

export const priceOfFloatingIps = (
  on: Platform,
  scope: Scope,
  { count }: FloatingIpPriceRequest,
): Promise<VolumePrice> => addresses(on, scope, count);

export const priceOfImage = (on: Platform, scope: Scope, { size }: ImagePriceRequest): Promise<VolumePrice> =>
  priceOf(on, scope, scope.regionId, priced.imageStorage, size);

/** Public IPv4 addresses cost something, all others nothing. @throws InvalidError for an unknown subnet or port */
export async function priceOfReservedFixedIp(
  on: Platform,
  scope: Scope,
  request: CreateReservedFixedIp,
): Promise<VolumePrice> {
  return addresses(on, scope, await publicAddresses(on.database, scope, request));
}

/** Returns what one GiB of logs costs. @throws NotFoundError for the region */
export async function priceOfLogging(on: Platform, payer: Payer, regionId: number): Promise<VolumePrice> {
  const { id } = found('Region', regionId, on.catalog.regions.get(regionId));
  return priceOf(on, payer, id, priced.logStorage, 1);
}

/** Returns what a DDoS profile costs. @throws NotFoundError for the region */
export async function priceOfDdos(on: Platform, payer: Payer, regionId: number): Promise<DdosPrice> {
  const { id } = found('Region', regionId, on.catalog.regions.get(regionId));
  const { terms, hourPrice } = await on.rates.of(payer.clientId);
  const price = volumePrice(terms, hourPrice(id, priced.ddosProtection), 1);
  const hour = price.price_per_hour;
  const of = (hours: number) => (hour === null ? null : timesHour(hour, hours));
  const now = on.clock.now();
  const [thisMonth, nextMonth] = [daysOfMonth(now, 0), daysOfMonth(now, 1)];
  return {
    current_month_days: thisMonth,
    current_month_days_last: thisMonth - now.getUTCDate() + 1,
    next_month_days: nextMonth,
    price: {
      feature_name: 'DDoS protection',
      period: 'hour',
      price_currency: terms.currency,
      price_per_30d: of(HOURS_PER_MONTH),
      price_per_day: of(24),
      price_per_hour: hour,
      unit_name: 'profile',
      unit_size: 1,
    },
  };
}

/** Returns how many public IPv4 addresses the reservation has. @throws InvalidError */
async function publicAddresses(
  { sql }: Database,
  scope: Scope,
  request: CreateReservedFixedIp,
): Promise<number> {
  if (request.type === 'port') {
    const count = await publicAddressesOfPort(sql, scope, request.port_id);
    if (count === undefined) throw new InvalidError({ port_id: [`Port ${request.port_id} not found.`] });
    return count;
  }
  if (request.type === 'subnet') {
    const subnet = await subnetToReserve(sql, scope, request.subnet_id);
    if (!subnet) throw new InvalidError({ subnet_id: [`Subnet ${request.subnet_id} not found.`] });
    return subnet.external && subnet.ipv4 ? 1 : 0;
  }
  const outside =
    request.type === 'external' || request.network_id.toLowerCase() === scope.region.external_network_id;
  if (!outside) return 0;
  if (request.type !== 'ip_address') return familiesOf(request.ip_family).includes('IPv4') ? 1 : 0;
  const address = canonicalAddress(request.ip_address);
  if (!address) throw new InvalidError({ ip_address: ['Is not an IP address.'] });
  return address.family === 'IPv4' ? 1 : 0;
}

function daysOfMonth(now: Date, later: number): number {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() + later];
  return (Date.UTC(year, month + 1) - Date.UTC(year, month)) / DAY_MS;
}
