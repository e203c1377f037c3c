//! The exchange with a mail server.

use std::time::Duration;

use carillon_engine::outgoing::Connector;
use lettre::Message as Mail;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail as From, Rcpt};
use lettre::transport::smtp::extension::{ClientId, MailParameter};

use crate::channel::attempt::Attempt;
use crate::channel::authority::tls_parameters;
use crate::channel::settings::{Channel, Tls};

/// For the end of the exchange, when the mail is with the server already.
const GOODBYE: Duration = Duration::from_secs(1);
/// Up to this try the mail waits for recipients that are refused for now: greylisting takes a few minutes.
const PATIENT_TRIES: i32 = 6;

/// Hands a mail to the server.
pub async fn submit(connector: &Connector, channel: &Channel, mail: &Mail, tries: i32) -> Attempt {
    let mut server = match connect(connector, channel).await {
        Ok(server) => server,
        Err(why) => return Attempt::down(why),
    };
    let taken = exchange(&mut server, mail, tries).await;
    let _ = tokio::time::timeout(GOODBYE, server.abort()).await;
    taken.map_or_else(Attempt::again, |answer| Attempt::Delivered { answer })
}

async fn connect(connector: &Connector, channel: &Channel) -> Result<AsyncSmtpConnection, String> {
    let settings = &channel.settings;
    let parameters = || tls_parameters(&settings.host, &settings.ca);
    let (usual, tls) = match settings.tls.unwrap_or_default() {
        Tls::Starttls => (587, Some(parameters()?)),
        Tls::Tls => (465, Some(parameters()?)),
        Tls::None => (25, None),
    };
    let is_wrapped = settings.tls == Some(Tls::Tls);
    let addresses = connector.addresses(&settings.host, settings.port.unwrap_or(usual)).await;
    let addresses = addresses.map_err(|error| error.to_string())?;
    let client = ClientId::default();
    // These are checked addresses, so nothing is resolved again.
    let wrapper = tls.clone().filter(|_| is_wrapped);
    let connection = AsyncSmtpConnection::connect_tokio1(&addresses[..], None, &client, wrapper, None).await;
    let mut server = connection.map_err(|error| error.to_string())?;
    if let Some(tls) = tls.filter(|_| !is_wrapped) {
        server.starttls(tls, &client).await.map_err(|error| error.to_string())?;
    }
    if let Some(password) = &channel.secrets.password {
        let credentials = Credentials::new(settings.user.clone(), password.clone());
        server.auth(DEFAULT_MECHANISMS, &credentials).await.map_err(|error| error.to_string())?;
    }
    Ok(server)
}

/// A recipient that the server refuses keeps the others from nothing.
async fn exchange(server: &mut AsyncSmtpConnection, mail: &Mail, tries: i32) -> Result<String, String> {
    let envelope = mail.envelope();
    let is_ascii = envelope.to().iter().chain(envelope.from()).all(|address| address.to_string().is_ascii());
    let parameters = if is_ascii { vec![] } else { vec![MailParameter::SmtpUtfEight] };
    let from = From::new(envelope.from().cloned(), parameters);
    server.command(from).await.map_err(|error| error.to_string())?;
    let (mut refused, mut is_for_now) = (vec![], false);
    for to in envelope.to() {
        if let Err(error) = server.command(Rcpt::new(to.clone(), vec![])).await {
            refused.push(format!("{to}: {error}"));
            is_for_now |= error.is_transient();
            if error.status().is_none() {
                return Err(error.to_string());
            }
        }
    }
    if refused.len() == envelope.to().len() || is_for_now && tries <= PATIENT_TRIES {
        return Err(refused.join("; "));
    }
    server.command(Data).await.map_err(|error| error.to_string())?;
    let response = server.message(&mail.formatted()).await.map_err(|error| error.to_string())?;
    let said = format!("{} {}", response.code(), response.message().collect::<Vec<_>>().join(" "));
    Ok(if refused.is_empty() { said } else { format!("{said}; not for {}", refused.join("; ")) })
}
