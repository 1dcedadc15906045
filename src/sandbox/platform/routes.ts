import type { Jobs } from '../jobs.ts';
import type { Route } from '../server.ts';
import type { Store } from '../store.ts';
import { aiRoutes } from './ai.ts';
import { auditRoutes } from './audit.ts';
import { certificateRoutes } from './certificates.ts';
import { contactRoutes } from './contacts.ts';
import { importRoutes } from './contacts-import.ts';
import { documentRoutes } from './documents.ts';
import { edmRoutes } from './edm.ts';
import { notificationRoutes } from './notifications.ts';
import { workflowRoutes } from './workflows.ts';

/** All that the platform server answers. */
export function platformRoutes(store: Store, jobs: Jobs): readonly Route[] {
  return [
    ...contactRoutes(store),
    ...importRoutes(jobs),
    ...workflowRoutes(store),
    ...documentRoutes(store),
    ...certificateRoutes(store),
    ...edmRoutes(store, jobs),
    ...aiRoutes(store, jobs),
    ...auditRoutes(store),
    ...notificationRoutes(store),
  ];
}
