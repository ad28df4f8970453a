import dgram from 'node:dgram';
import dns from 'node:dns';
import { describe, expect, it } from 'vitest';
import { lookUpPublic, type Resolver } from './outside-request.ts';

const PUBLIC = ['93.184.215.14', '8.8.8.8'];
const refusal = () => new Error('not public');
const failing = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));

function look(resolver: Resolver, { name = 'example.com', ...options }: dns.LookupOptions & { name?: string } = {}) {
  return new Promise((resolve, reject) => {
    lookUpPublic(refusal, resolver)(name, options, (error, address, family) => {
      if (error) reject(error);
      else resolve(options.all ? address : [address, family]);
    });
  });
}

const resolver = (four: Promise<string[]>, six: Promise<string[]>): Resolver =>
  ({ resolve4: () => four, resolve6: () => six }) as unknown as Resolver;

describe('a look-up', () => {
  it('finds the public addresses of a name, and no others', async () => {
    const found = resolver(Promise.resolve(['10.0.0.1', ...PUBLIC]), Promise.resolve(['::1', '2606:4700::6810:84e5']));
    expect(await look(found)).toEqual([PUBLIC[0], 4]);
    expect(await look(found, { family: 6 })).toEqual(['2606:4700::6810:84e5', 6]);
    expect(await look(found, { all: true })).toEqual([
      { address: PUBLIC[0], family: 4 },
      { address: PUBLIC[1], family: 4 },
      { address: '2606:4700::6810:84e5', family: 6 },
    ]);
  });

  it('refuses a name with other addresses only, also one that only this machine knows', async () => {
    await expect(look(resolver(Promise.resolve(['10.0.0.1']), failing('ENODATA')))).rejects.toThrow('not public');
    const unknown = resolver(failing('ENOTFOUND'), failing('ENOTFOUND'));
    await expect(look(unknown, { name: 'localhost' })).rejects.toThrow('not public');
  });

  it('finds one kind of address if the servers fail for the other', async () => {
    expect(await look(resolver(Promise.resolve(PUBLIC), failing('ESERVFAIL')))).toEqual([PUBLIC[0], 4]);
  });

  it('fails with the servers, without asking this machine', async () => {
    const broken = resolver(failing('ESERVFAIL'), failing('ENOTFOUND'));
    await expect(look(broken, { name: 'localhost' })).rejects.toThrow('ESERVFAIL');
  });
});

it('holds up nobody else while a server is silent', async () => {
  const silent = dgram.createSocket('udp4');
  await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
  const patient = new dns.promises.Resolver({ timeout: 2_000, tries: 1 });
  patient.setServers([`127.0.0.1:${silent.address().port}`]);
  const order: string[] = [];
  const dead = Array.from({ length: 8 }, () => look(patient).catch((error) => order.push(error.code)));
  await dns.promises.lookup('localhost');
  order.push('another name');
  await Promise.all(dead);
  expect(order).toEqual(['another name', ...dead.map(() => 'ETIMEOUT')]);
  silent.close();
});
