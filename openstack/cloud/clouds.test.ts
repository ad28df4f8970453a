import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { accessIn } from './clouds.ts';

const password = {
  auth_url: 'https://keystone.example.com:5000',
  username: 'tradewind',
  password: 'sesame',
  project_name: 'clients',
  user_domain_name: 'Default',
};
const text = (auth: object, more: object = {}) => stringify({ clouds: { mine: { auth, ...more } } });

it('reads a user with a password', () => {
  expect(accessIn(text(password, { region_name: 'west', interface: 'internal' }), undefined)).toEqual({
    name: 'mine',
    authUrl: 'https://keystone.example.com:5000/v3',
    region: 'west',
    interface: 'internal',
    auth: {
      identity: {
        methods: ['password'],
        password: { user: { name: 'tradewind', domain: { name: 'Default' }, password: 'sesame' } },
      },
      scope: { project: { name: 'clients', domain: { id: 'default' } } },
    },
  });
});

it('reads an application credential, which belongs to a project by itself', () => {
  const auth = {
    auth_url: 'https://keystone.example.com/identity/v3/',
    application_credential_id: 'abc',
    application_credential_secret: 'sesame',
  };
  expect(accessIn(text(auth), 'mine')).toEqual({
    name: 'mine',
    authUrl: 'https://keystone.example.com/identity/v3',
    region: undefined,
    interface: 'public',
    auth: {
      identity: { methods: ['application_credential'], application_credential: { id: 'abc', secret: 'sesame' } },
    },
  });
});

const { password: _, ...withoutPassword } = password;
const { project_name: __, ...withoutProject } = password;
it.each([
  [
    'no YAML',
    'clouds: {mine: {auth: {password: @sesame}}}',
    undefined,
    /^it is no valid YAML; a password with special characters has to be in quotes$/,
  ],
  ['another file', 'hello', undefined, /^it is no clouds\.yaml: clouds /],
  ['no address', text({ ...password, auth_url: 'keystone' }), undefined, /clouds\/mine\/auth\/auth_url must match/],
  ['no password', text(withoutPassword), undefined, /^it needs an application credential, or a user with a password$/],
  ['no project', text(withoutProject), undefined, /^its project is missing$/],
  ['another name', text(password), 'yours', /^it has the clouds mine; name one of them as "cloud" in the settings$/],
])('says what is wrong: %s', (_name, content, cloud, message) => {
  expect(() => accessIn(content, cloud)).toThrow(message);
});
