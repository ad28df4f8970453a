/**
 * The groups of operations in the order in which a reader meets them: what is built in the cloud and what it
 * is built from, then AI tasks, then accounts.
 */
export const TAGS: { name: string; description: string }[] = [
  { name: 'Tasks', description: 'Long changes and their progress. Poll a task until FINISHED or ERROR.' },
  { name: 'Kubernetes clusters', description: 'Clusters, their pools and their configuration.' },
  { name: 'Kubernetes', description: 'The versions and flavors that clusters can have.' },
  { name: 'Security groups', description: 'Which traffic may reach and leave a port.' },
  { name: 'Instances', description: 'Virtual and bare metal machines, and their network ports.' },
  { name: 'Placement groups', description: 'Instances on the same host, or on different ones.' },
  { name: 'Networks', description: 'Networks and subnets.' },
  {
    name: 'Ports',
    description: 'Connections of instances to networks, with their addresses and security groups.',
  },
  {
    name: 'Floating IPs',
    description: 'Public addresses that are assigned to a port and can be moved to another.',
  },
  {
    name: 'Routers',
    description: 'Connect subnets with each other and with the external network. Floating IPs need one.',
  },
  {
    name: 'Reserved fixed IPs',
    description: 'Ports that keep their address, regardless of the instance that uses them.',
  },
  {
    name: 'Load balancers',
    description: 'Addresses that spread traffic over members: listeners, pools, L7 policies.',
  },
  { name: 'Volumes', description: 'Disks.' },
  { name: 'Snapshots', description: 'Copies of volumes at one point in time.' },
  { name: 'Pricing', description: 'What a resource would cost, before it is created.' },
  { name: 'Costs', description: 'What the account used, and what that costs.' },
  { name: 'File shares', description: 'Shared folders for many machines.' },
  { name: 'SSH keys', description: 'Public keys that are installed on new machines.' },
  { name: 'Secrets', description: 'Certificates with their keys, and what else listeners need.' },
  { name: 'DDoS protection', description: 'Templates of protection profiles.' },
  { name: 'Logging', description: 'Where the logs of clusters can be sent.' },
  { name: 'Projects', description: 'Groups that keep the resources of an account apart.' },
  { name: 'Quotas', description: 'How much an account may have, and how much it has.' },
  { name: 'User actions', description: 'Who changed what, and when.' },
  { name: 'Regions', description: 'Where resources can be created, and what is offered there.' },
  { name: 'Flavors', description: 'Sizes of machines.' },
  { name: 'Images', description: 'What machines boot from.' },
  { name: 'AI tasks', description: 'Transcription and moderation of audio, video and pictures.' },
  { name: 'Logins', description: 'Tokens for people: issued for a password, refreshed every hour.' },
  { name: 'Users', description: 'People, the accounts they belong to and their roles there.' },
  { name: 'Clients', description: 'Accounts of a reseller.' },
  { name: 'Sellers', description: 'People who work for a reseller.' },
  { name: 'API tokens', description: 'Credentials for programs.' },
  { name: 'Features', description: 'Free and paid features of an account.' },
  { name: 'Notification settings', description: 'Which mail a reseller sends, and to whom.' },
  { name: 'Audit', description: 'Who did what, from where and with which token.' },
  { name: 'Events', description: 'What happens, as it happens.' },
  { name: 'Webhooks', description: 'Programs that are told of events.' },
];
