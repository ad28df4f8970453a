import { describe, expect, it } from 'vitest';
import { type CloudFlavor, type CloudImage, type Inventory, isAtLeast } from './inspection.ts';
import { fitOf, lostOf, mappingsIn } from './mapping.ts';

const flavor = (id: string, more: Partial<CloudFlavor> = {}): CloudFlavor => ({
  ...{ id, name: id, vcpus: 2, ram: 4096, disk: 0 },
  ...more,
});
const image = (id: string, more: Partial<CloudImage> = {}): CloudImage => ({
  ...{ id, name: id, status: 'active', visibility: 'public', tags: [], created_at: '2026-01-01T00:00:00Z' },
  ...more,
});
const cloud = (has: Partial<Inventory>): Inventory => ({
  ...{ projectId: 'p', flavors: [], images: [], volumeTypes: [], defaultVolumeType: undefined, externalNetworks: [] },
  loadBalancerFlavors: [],
  ...has,
});
const NOTHING = { flavors: [], images: [], volumeTypes: [], loadBalancerFlavors: [] };

describe('flavors', () => {
  const find = (...flavors: CloudFlavor[]) => {
    const { flavors: found } = fitOf(
      { ...NOTHING, flavors: [{ id: 'g1-2-4', vcpus: 2, ram: 4096 }] },
      cloud({ flavors }),
    );
    return found.found[0] ?? found.without;
  };

  it('are those of the same ID, then of the same name, then of the same size', () => {
    const [own, named, sized] = [flavor('g1-2-4'), flavor('7', { name: 'G1-2-4' }), flavor('m1')];
    expect(find(sized, named, own)).toEqual({ id: 'g1-2-4', theirs: 'g1-2-4', name: 'g1-2-4', by: 'ID' });
    expect(find(sized, named)).toEqual({ id: 'g1-2-4', theirs: '7', name: 'G1-2-4', by: 'name' });
    expect(find(sized)).toMatchObject({ theirs: 'm1', by: 'size' });
    expect(find(flavor('m2', { vcpus: 4 }), flavor('m3', { ram: 2048 }))).toEqual(['g1-2-4']);
  });

  it('of the same size are the plainest: without a disk, and for no special machine', () => {
    expect(find(flavor('a', { disk: 40 }), flavor('b'))).toMatchObject({ theirs: 'b' });
    for (const name of ['pci_passthrough:alias', 'resources:CUSTOM_BAREMETAL', 'resources1:VGPU'])
      expect(find(flavor('gpu', { extra_specs: { [name]: '1' } })), name).toEqual(['g1-2-4']);
  });
});

describe('images', () => {
  const wanted = { id: 'ours', name: 'debian-12-x64', osDistro: 'debian', osVersion: '12', architecture: 'x86_64' };
  const find = (...images: CloudImage[]) => {
    const { images: found } = fitOf({ ...NOTHING, images: [wanted] }, cloud({ images }));
    return found.found[0] ?? found.without;
  };
  const debian = { os_distro: 'Debian', os_version: '12' };

  it('are those of the same ID, then of the same name, then of the same distribution', () => {
    const [own, named, alike] = [image('ours'), image('7', { name: 'Debian-12-X64' }), image('8', debian)];
    expect(find(alike, named, own)).toMatchObject({ theirs: 'ours', by: 'ID' });
    expect(find(alike, named)).toMatchObject({ theirs: '7', name: 'Debian-12-X64', by: 'name' });
    expect(find(alike)).toMatchObject({ theirs: '8', by: 'distribution' });
    expect(
      find(image('9', { ...debian, os_version: '11' }), image('a', { ...debian, architecture: 'aarch64' })),
    ).toEqual(['debian-12-x64']);
  });

  it('of several are the public one, then the newest', () => {
    const mine = { visibility: 'private', owner: 'p' };
    const newer = { created_at: '2026-02-01T00:00:00Z' };
    expect(find(image('a', { ...debian, ...mine, ...newer }), image('b', debian))).toMatchObject({ theirs: 'b' });
    expect(find(image('a', debian), image('b', { ...debian, ...newer }))).toMatchObject({ theirs: 'b' });
  });

  it('are not those of other projects, of our clients, hidden or unfinished', () => {
    const others: Partial<CloudImage>[] = [
      { visibility: 'private', owner: 'q' },
      { tags: ['tradewind-image-123c322d-7138-4a78-8d69-cd909f4ac194'] },
      { os_hidden: true },
      { status: 'queued' },
    ];
    for (const other of others) expect(find(image('a', { ...debian, ...other }))).toEqual(['debian-12-x64']);
  });
});

describe('volume types', () => {
  const find = (has: Partial<Inventory>) =>
    fitOf({ ...NOTHING, volumeTypes: ['standard', 'ultra'] }, cloud(has)).volumeTypes;

  it('are those of the same name', () => {
    expect(find({ volumeTypes: ['Standard', 'other'] })).toEqual({
      found: [{ id: 'standard', theirs: 'Standard', name: 'Standard', by: 'name' }],
      without: ['ultra'],
    });
  });

  it('are the default one where none has a name of ours', () => {
    const found = find({ volumeTypes: ['ceph'], defaultVolumeType: 'ceph' });
    expect(found).toMatchObject({ found: [{ id: 'standard', theirs: 'ceph', by: 'default' }], without: ['ultra'] });
    expect(find({ volumeTypes: ['ceph'] }).found).toEqual([]);
  });
});

describe('flavors of load balancers', () => {
  const find = (has: Partial<Inventory>, wanted = ['lb1', 'lb2']) =>
    fitOf({ ...NOTHING, loadBalancerFlavors: wanted }, cloud(has)).loadBalancerFlavors;

  it('are those of the same name', () => {
    expect(find({ loadBalancerFlavors: [{ id: '7', name: 'LB2' }] })).toEqual({
      found: [{ id: 'lb2', theirs: '7', name: 'LB2', by: 'name' }],
      without: ['lb1'],
    });
  });

  it('are one, without any of that name: Octavia then makes load balancers of its own choice', () => {
    const found = [{ id: 'lb1', theirs: 'lb1', name: 'lb1', by: 'default' }];
    expect(find({ loadBalancerFlavors: [{ id: '7', name: 'huge' }] })).toEqual({ found, without: ['lb2'] });
    expect(find({}, [])).toEqual({ found: [], without: [] });
  });
});

it('only what is called otherwise is mapped', () => {
  const fit = fitOf(
    {
      flavors: [
        { id: 'one', vcpus: 1, ram: 1024 },
        { id: 'two', vcpus: 2, ram: 4096 },
      ],
      images: [],
      volumeTypes: ['ultra'],
      loadBalancerFlavors: ['lb1'],
    },
    cloud({
      flavors: [flavor('one'), flavor('2')],
      volumeTypes: ['ultra'],
      loadBalancerFlavors: [{ id: 'l', name: 'lb1' }],
    }),
  );
  expect(mappingsIn(fit)).toEqual({ flavors: { two: '2' }, load_balancer_flavors: { lb1: 'l' } });
});

it('what the catalogue offers and the cloud has no more is named', () => {
  const mappings = {
    ...{ flavors: { two: '2' }, images: { i: 'their-i' }, networks: {}, volumeTypes: {} },
    loadBalancerFlavors: { lb1: 'l' },
  };
  const offered = { flavors: ['one', 'two'], images: ['i'], networks: ['n'], volumeTypes: ['ultra'] };
  const whole = cloud({
    flavors: [flavor('one'), flavor('2')],
    images: [image('their-i')],
    volumeTypes: ['ultra'],
    externalNetworks: [{ id: 'n', name: 'public', subnets: [] }],
    loadBalancerFlavors: [{ id: 'l', name: 'lb1' }],
  });
  expect(lostOf(mappings, offered, whole)).toEqual([]);
  const images = [image('their-i', { status: 'deactivated' })];
  expect(
    lostOf(mappings, offered, { ...whole, flavors: [], images, externalNetworks: [], loadBalancerFlavors: [] }),
  ).toEqual([
    "the catalogue offers flavors that the cloud doesn't have: one, two (2 in the cloud)",
    "the catalogue offers images that the cloud doesn't have: i (their-i in the cloud)",
    "the catalogue offers flavors of load balancers that the cloud doesn't have: lb1 (l in the cloud)",
    "the catalogue offers external networks that the cloud doesn't have: n",
  ]);
});

it('versions are compared as numbers', () => {
  for (const version of ['2.79', '2.100', '3.0']) expect(isAtLeast(version, '2.79'), version).toBe(true);
  for (const version of ['2.78', '2.9', '1.99', 'unknown']) expect(isAtLeast(version, '2.79'), version).toBe(false);
});
