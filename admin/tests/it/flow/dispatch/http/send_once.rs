//! A request that is sent once, for no run.

use carillon_scheduler::{AuditAction, HttpAuth, HttpDraft, JobDraft};
use carillon_store::audit::list::AuditFilter;

use super::service::{Reply, Service, answer};
use super::{closed_address, with_node};
use crate::conformance::fixture::actor;

// covers: 001-44
#[test]
fn a_draft_is_sent_once_with_its_secrets_and_shown_without_them() {
    with_node(async |node| {
        let service = Service::start(Reply::Echo).await;
        node.engine.app_secrets().set(node.app.id, "KEY", "s3cret-word", &actor()).await.unwrap();
        let mut request = HttpDraft::new(format!("{}?run={{{{run_id}}}}", service.url));
        request.body = "{\"all\": {{json params}}}".into();
        request.auth = Some(HttpAuth::Bearer("KEY".into()));
        request.callback_seconds = Some(60);
        let mut draft = JobDraft::new(node.app.name.clone(), "Send", "");
        draft.params = "[1]".into();
        draft.http = Some(request.clone());
        let send = async |draft: &JobDraft| node.engine.jobs().send_once(draft, &actor()).await;
        let sent = send(&draft).await.unwrap();
        assert_eq!((sent.verdict(), sent.why()), ("succeeded", String::new()));
        assert!(sent.log.contains("HTTP 200") && !sent.log.contains("s3cret-word"), "{}", sent.log);
        let received = service.received().pop().unwrap();
        assert!(received.contains("authorization: Bearer s3cret-word") && received.contains("?run=0 "), "{received}");
        assert!(received.ends_with("{\"all\": [1]}") && !received.contains("carillon-callback"), "{received}");
        service.reply(answer(500, "", "no"));
        let failed = send(&draft).await.unwrap();
        assert_eq!((failed.verdict(), failed.why().as_str()), ("failed", "HTTP 500: no"));
        service.reply(answer(202, "", ""));
        assert_eq!(send(&draft).await.unwrap().verdict(), "awaited");
        service.reply(Reply::Cut);
        assert_eq!(send(&draft).await.unwrap().verdict(), "unknown");
        draft.http = Some(HttpDraft::new(format!("http://{}/", closed_address())));
        assert_eq!(send(&draft).await.unwrap().verdict(), "not-sent");
        draft.http = Some(HttpDraft::new("ftp://a/"));
        assert!(send(&draft).await.is_err());
        draft.app = "another".into();
        assert!(send(&draft).await.is_err());
        assert!(
            node.store
                .runs()
                .list(&carillon_store::RunFilter { limit: 10, ..Default::default() })
                .await
                .unwrap()
                .items
                .is_empty()
        );
        let filter = AuditFilter { actions: vec![AuditAction::Run], limit: 10, ..AuditFilter::default() };
        assert_eq!(
            node.store.audit().list(&filter).await.unwrap().items.len(),
            5,
            "one for each request that was let out"
        );
    });
}
