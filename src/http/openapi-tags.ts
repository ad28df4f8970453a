/**
 * The groups of operations in the order in which a reader meets them: what is built in the cloud and what it
 * is built from, then AI tasks, then accounts.
 */
export const TAGS: { name: string; description: string }[] = [
  { name: 'Tasks', description: 'Long changes and how far they are. Poll one until FINISHED or ERROR.' },
  { name: 'Kubernetes clusters', description: 'Clusters, their pools and their configuration.' },
  { name: 'Kubernetes', description: 'What clusters can be made of: versions and flavors.' },
  { name: 'Security groups', description: 'Which traffic may reach a port and leave it.' },
  { name: 'Instances', description: 'Virtual and bare metal machines, and their network ports.' },
  { name: 'Networks', description: 'Networks and subnets.' },
  { name: 'Ports', description: 'What joins instances to networks, with its addresses and security groups.' },
  { name: 'Floating IPs', description: 'Public addresses that lead to a port and can be moved to another.' },
  {
    name: 'Reserved fixed IPs',
    description: 'Ports that are kept for their address, whatever instance has them.',
  },
  { name: 'Volumes', description: 'Disks.' },
  { name: 'Snapshots', description: 'Volumes as they were at one moment.' },
  { name: 'Pricing', description: 'What something would cost, before it is made.' },
  { name: 'File shares', description: 'Shared folders for many machines.' },
  { name: 'SSH keys', description: 'Public keys that new machines let in.' },
  { name: 'DDoS protection', description: 'Templates of protection profiles.' },
  { name: 'Logging', description: 'Where the logs of clusters can be sent.' },
  { name: 'Projects', description: 'What an account keeps apart.' },
  { name: 'User actions', description: 'Who changed what, and when.' },
  { name: 'Regions', description: 'Where things can be made, and what is offered there.' },
  { name: 'Flavors', description: 'Sizes of machines.' },
  { name: 'Images', description: 'What machines start from.' },
  { name: 'AI tasks', description: 'Transcription and moderation of audio, video and pictures.' },
  { name: 'Logins', description: 'Tokens of people: by password, refreshed every hour.' },
  { name: 'Users', description: 'People, the accounts they belong to and their roles there.' },
  { name: 'Clients', description: 'Accounts of a reseller.' },
  { name: 'API tokens', description: 'Credentials of programs.' },
  { name: 'Features', description: 'Free and paid features of an account.' },
  { name: 'Notification settings', description: 'Which mail a reseller sends, and to whom.' },
];
