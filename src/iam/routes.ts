import type { Api } from '../http/server.ts';
import type { Platform } from '../platform.ts';
import { activityLogRoutes } from './activity-log/routes.ts';
import { productAvailabilityRoutes } from './client-services/availability/routes.ts';
import { clientServiceRoutes } from './client-services/routes.ts';
import { resellerRoutes } from './clients/resellers/routes.ts';
import { clientRoutes, suspensionRoutes } from './clients/routes.ts';
import { featureRoutes } from './features/routes.ts';
import { ownLoginRoutes } from './logins/own-logins/routes.ts';
import { passwordResetRoutes } from './logins/password-resets/routes.ts';
import { loginRoutes } from './logins/routes.ts';
import { secondFactorRoutes } from './logins/second-factors/routes.ts';
import { mailedLinkRoutes } from './mailed-links/routes.ts';
import { notificationSettingRoutes } from './notification-settings/routes.ts';
import { roleAssignmentRoutes } from './role-assignments/routes.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { invitationRoutes, memberRoutes, userRoutes } from './users/routes.ts';
import { sellerRoutes } from './users/sellers/routes.ts';
import { signInRoutes } from './users/sign-in/routes.ts';
import { singleSignOnRoutes } from './users/single-sign-on/routes.ts';

/** Registers its operations under one base address. */
export function registerIamRoutes(app: Api, on: Platform): void {
  loginRoutes(app, on);
  ownLoginRoutes(app, on);
  secondFactorRoutes(app, on);
  userRoutes(app, on);
  memberRoutes(app, on);
  sellerRoutes(app, on);
  signInRoutes(app, on);
  singleSignOnRoutes(app, on);
  invitationRoutes(app, on);
  clientRoutes(app, on);
  suspensionRoutes(app, on);
  resellerRoutes(app, on);
  clientServiceRoutes(app, on);
  productAvailabilityRoutes(app, on);
  activityLogRoutes(app, on);
  featureRoutes(app, on);
  notificationSettingRoutes(app, on);
  tokenRoutes(app, on);
  passwordResetRoutes(app, on);
  roleAssignmentRoutes(app, on);
  mailedLinkRoutes(app, on);
}
