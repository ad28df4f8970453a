import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, expect, it } from 'vitest';
import { platformOf, platformSettings } from './platform.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'platform-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

const Settings = Type.Object(platformSettings, { additionalProperties: false });

it('reads the password of the log service from a file that nobody else may read', () => {
  const password_file = path.join(folder, 'password');
  fs.writeFileSync(password_file, 'sesame\n', { mode: 0o600 });
  const settings = {
    log_forwarding: { brokers: { 2: ['logs.example:9093'] }, username: 'forwarder', password_file },
  };
  expect(Value.Check(Settings, settings)).toBe(true);
  expect(platformOf(settings, ['--cloud-provider=clusterapi'])).toEqual({
    autoscalerArguments: ['--cloud-provider=clusterapi'],
    log_forwarding: { brokers: { 2: ['logs.example:9093'] }, username: 'forwarder', password: 'sesame' },
  });
  fs.chmodSync(password_file, 0o644);
  expect(() => platformOf(settings, [])).toThrow(/log_forwarding\.password_file: .*chmod 600/);
});

it('reads the authorities of OIDC providers', () => {
  const oidc_ca_file = path.join(folder, 'ca.crt');
  fs.writeFileSync(oidc_ca_file, 'not a certificate');
  expect(() => platformOf({ oidc_ca_file }, [])).toThrow(/oidc_ca_file: .*no certificates/);
  const text = '-----BEGIN CERTIFICATE-----\n';
  fs.writeFileSync(oidc_ca_file, text);
  expect(platformOf({ oidc_ca_file }, []).oidc_ca).toEqual({ file: oidc_ca_file, text });
});

it('takes no setting that it does not know', () => {
  expect(Value.Check(Settings, {})).toBe(true);
  expect(Value.Check(Settings, { log_brokers: {} })).toBe(false);
  expect(Value.Check(Settings, { log_forwarding: { brokers: { here: [] } } })).toBe(false);
});
