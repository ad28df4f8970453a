/* The door of the OpenStack backend: networks, machines and storage in a cloud that exists. */
export { openstack } from './maker.ts';
