const link = new URL('https://causeway.example/american-red-cross/give');
link.search = new URLSearchParams({
  amount: 25,
  suggestedAmounts: '10,25,50',
  partner_donation_id: 'order-17',
});
console.log(link.href);
