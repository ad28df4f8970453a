import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { type Database, openDatabase, type Transaction } from '../../../db/database.ts';
import { release, takeOutside } from './in-transaction.ts';

let service: TestService;
let database: Database;
let subnet: { id: string; network_id: string };
beforeAll(async () => {
  service = await startService();
  database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 10);
  const { rows } = await service.pool.query(
    `select subnets.id, network_id from subnets join networks on networks.id = network_id
     where external and region_id = 1 and family(cidr) = 4`,
  );
  subnet = rows[0];
  // Nobody needs the floating IPs here.
  await service.pool.query('alter table ip_assignments drop constraint ip_assignments_floating_ip_id_fkey');
});
afterEach(async () => {
  await service.pool.query('delete from ip_assignments where subnet_id = $1', [subnet.id]);
  await service.pool.query('delete from free_external_addresses');
  await service.pool.query('update subnets set offered_to = null, free_from = first_address');
});
afterAll(async () => {
  await database.close();
  await service.stop();
});

/** 4093 addresses, from 2 on. */
const nth = (n: number) => `198.18.${16 + Math.floor(n / 256)}.${n % 256}`;

async function take(tx: Transaction, amount: number, address?: string) {
  const wish = () => ({ holder: { floatingIp: crypto.randomUUID() }, subnets: [subnet] as const, address });
  return takeOutside(tx, Array.from({ length: amount }, wish));
}
const taken = (amount: number, address?: string) => database.transaction((tx) => take(tx, amount, address));
const addressesOf = async (taking: ReturnType<typeof take>) => (await taking).map(({ address }) => address);
const giveBack = (all: Awaited<ReturnType<typeof take>>) =>
  database.transaction((tx) =>
    release(
      tx,
      [],
      all.flatMap(({ holder }) => ('floatingIp' in holder ? holder.floatingIp : [])),
    ),
  );
const offered = async () =>
  (await service.pool.query('select address from free_external_addresses order by address')).rows.map(
    ({ address }) => address,
  );

it('waits for nobody who takes addresses of the same subnet, and takes others', async () => {
  await taken(1);
  const back = new Error('nothing of this stays');
  const work = database.transaction(async (first) => {
    // It is so many that more are offered.
    expect(await addressesOf(take(first, 200))).toContain(nth(3));
    await database
      .transaction(async (second) => {
        // Waiting for the first would be waiting for ever.
        await second.client.query(`set local lock_timeout = '5s'`);
        expect(await addressesOf(take(second, 2))).toEqual([nth(203), nth(204)]);
        throw back;
      })
      .catch((error: unknown) => expect(error).toBe(back));
    // What was given up is free again at once.
    expect(await addressesOf(take(first, 1))).toEqual([nth(203)]);
    throw back;
  });
  await expect(work).rejects.toBe(back);
  expect(await addressesOf(taken(1))).toEqual([nth(3)]);
});

it('gives each of many at a time another one, the lowest ones', async () => {
  const all = await Promise.all(Array.from({ length: 100 }, () => addressesOf(taken(3))));
  expect(new Set(all.flat()).size).toBe(300);
  expect(await addressesOf(taken(1))).toEqual([nth(302)]);
});

it('gives what was given back before any other', async () => {
  const all = await taken(10);
  await giveBack(all.slice(3, 5));
  expect(await addressesOf(taken(3))).toEqual([nth(5), nth(6), nth(12)]);
});

it('offers an address no longer that was asked for, and gives it once', async () => {
  await taken(1);
  expect(await addressesOf(taken(1, nth(3)))).toEqual([nth(3)]);
  expect(await offered()).not.toContain(nth(3));
  await expect(taken(1, nth(3))).rejects.toThrow(`already in use: ${nth(3)}`);
  expect(await addressesOf(taken(1))).toEqual([nth(4)]);
  // Nobody had offered this one.
  const late = await taken(1, nth(1_000));
  expect(await addressesOf(taken(1_100))).not.toContain(nth(1_000));
  await giveBack(late);
  expect(await addressesOf(taken(1))).toEqual([nth(1_000)]);
});

it('says when none is left, and goes on when one is given back', async () => {
  await expect(taken(4_094)).rejects.toThrow('has no free addresses');
  const all = await taken(4_093);
  await expect(taken(1)).rejects.toThrow('has no free addresses');
  await giveBack(all.slice(77, 78));
  expect(await addressesOf(taken(1))).toEqual([nth(79)]);
});

it('gives of several subnets the first that has one, each wish only of its own', async () => {
  const { rows } = await service.pool.query(
    'select id, network_id from subnets where network_id = $1 and family(cidr) = 6',
    [subnet.network_id],
  );
  const wish = (...subnets: [typeof subnet, ...(typeof subnet)[]]) => ({
    holder: { floatingIp: crypto.randomUUID() },
    subnets,
    address: undefined,
  });
  const all = [wish(subnet, rows[0]), wish(subnet), wish(subnet, rows[0])];
  await taken(4_091);
  const given = await addressesOf(database.transaction((tx) => takeOutside(tx, all)));
  expect(given).toEqual([nth(4_094), nth(4_093), '2001:2:0:1::2']);
  const none = database.transaction((tx) => takeOutside(tx, [wish(subnet), wish(subnet, rows[0])]));
  await expect(none).rejects.toThrow(`no free addresses in subnet ${subnet.id}`);
  await service.pool.query('delete from ip_assignments');
});

it('is right beside a release that takes and gives back without offers', async () => {
  await taken(1);
  await service.pool.query(
    `insert into ip_assignments (subnet_id, address, floating_ip_id)
     select $1, unnest($2::inet[]), gen_random_uuid()`,
    [subnet.id, [nth(3), nth(4)]],
  );
  await service.pool.query('update subnets set free_from = $2 where id = $1', [subnet.id, nth(5)]);
  const [five] = await taken(1);
  expect(five?.address).toBe(nth(5));
  await service.pool.query('delete from ip_assignments where address = $1', [nth(3)]);
  // It comes when there are no others.
  const others = await taken(4_089);
  expect(others.map(({ address }) => address)).not.toContain(nth(3));
  expect(await addressesOf(taken(1))).toEqual([nth(3)]);
  // That release finds what this one gives back.
  await service.pool.query('update subnets set free_from = last_address where id = $1', [subnet.id]);
  await giveBack(others.slice(5, 6));
  const { rows } = await service.pool.query('select free_from, first_address from subnets where id = $1', [subnet.id]);
  expect(rows[0].free_from).toBe(rows[0].first_address);
});
